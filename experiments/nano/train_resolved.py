"""Trains from a resolved configuration where Hydra is not installed: train_resolved.py CONFIG.json FOLDER.

CONFIG.json holds the `job` node of `python -m icpo.run +exp=train_nano ...`, every interpolation resolved;
`python experiments/nano/resolve.py NAME OVERRIDE ...` writes it.
"""

import importlib
import json
import logging
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def build(node: Any) -> Any:
    """What hydra.utils.instantiate makes of a node: a `_target_` is called with the other keys."""
    if isinstance(node, list):
        return tuple(build(x) for x in node)
    if not isinstance(node, dict):
        return node
    values = {key: build(value) for key, value in node.items() if key != "_target_"}
    if "_target_" not in node:
        return values
    module, name = node["_target_"].rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(**values)


def main(config: Path, folder: Path) -> None:
    """Builds the job, makes the model in `folder` and writes metrics.json there."""
    started = time.monotonic()

    def log(scores: Mapping[str, float], step: int) -> None:
        if "train/loss" in scores and step % 500 == 0:
            seconds = time.monotonic() - started
            logging.info(
                "%s step %d %.0f s %s",
                folder.name,
                step,
                seconds,
                {k: round(v, 4) for k, v in scores.items()},
            )

    job = build(json.loads(config.read_text(encoding="utf-8")))
    metrics = job.make(folder, log)
    (folder / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
