"""Writes the resolved `job` node of +exp=train_nano as JSON: resolve.py FILE.json [OVERRIDE ...]."""

import json
import sys
from pathlib import Path

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from icpo.config import config_source


def main(file: Path, overrides: list[str]) -> None:
    """Composes as the command line would, and resolves every interpolation."""
    with initialize_config_dir(config_dir=config_source(), version_base="1.3"):
        config = compose("config", overrides=["+exp=train_nano", *overrides])
    job = OmegaConf.to_container(config.job, resolve=True, throw_on_missing=True)
    file.write_text(json.dumps(job, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
