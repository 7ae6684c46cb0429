"""Starts vLLM's own server for timings: the settings of engine=vllm, random weights in a model's shape.

    python experiments/throughput/serve.py FOLDER [OVERRIDE ...]     port 8000; overrides of +exp=throughput
    python experiments/throughput/serve.py --weights                 of the server that listens

FOLDER receives the shape (configuration and tokenizer); it is the model's name for the client.
`--weights` gives the server the same random weights as engine=vllm has.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from icpo.config import build, compose
from icpo.engines.vllm.arguments import engine_arguments
from icpo.engines.vllm.process import DUMMY_SCALE
from icpo.lab.throughput.shape import write_shape

FIXED = "--host 127.0.0.1 --port 8000 --load-format dummy --disable-uvicorn-access-log"
SERVER = "vllm.entrypoints.openai.api_server"
CALLS = "http://127.0.0.1:8000/collective_rpc"  # of a server in development mode


def main(folder: Path, overrides: list[str]) -> None:
    """Become the server."""
    config = compose(["+exp=throughput", *overrides])
    settings, backbone = build(config.engine), build(config.backbone)
    write_shape(Path(backbone.location), folder)
    arguments = engine_arguments(settings, folder, backbone, backbone.max_context_tokens)
    flags = [f for name, value in arguments.items() if value is not None for f in flags_of(name, value)]
    os.environ["VLLM_SERVER_DEV_MODE"] = "1"
    os.execv(sys.executable, [sys.executable, "-m", SERVER, *FIXED.split(), *flags])


def give_weights() -> None:
    """Replace the server's weights as engine=vllm replaces dummy ones: vLLM's make every output uniform."""
    call = json.dumps({"method": "icpo_randomise_weights", "args": [DUMMY_SCALE]}).encode()
    request = urllib.request.Request(CALLS, call, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=60).read()


def flags_of(name: str, value: Any) -> Iterator[str]:
    """One of vLLM's arguments as its command line takes it."""
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        yield f"--{flag}" if value else f"--no-{flag}"
    else:
        yield f"--{flag}"
        yield json.dumps(value) if isinstance(value, dict) else str(value)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1:] == ["--weights"]:
        give_weights()
        sys.exit()
    main(Path(sys.argv[1]), sys.argv[2:])
