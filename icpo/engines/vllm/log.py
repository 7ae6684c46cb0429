"""vLLM's log: kept in a file, so that a terminal shows our progress and an error shows the log's end."""

import json
import os
import tempfile
from functools import cache
from pathlib import Path

NUM_TAIL_LINES = 15


@cache
def log_file() -> Path:
    """The file to which this process's vLLM and its worker processes log; made at the first call.

    All engines of this process share it. It stays in the temporary folder: vLLM still writes to it while the
    interpreter ends, and waits forever for its processes if it cannot.
    """
    folder = Path(tempfile.mkdtemp(prefix="icpo-vllm-"))
    path = folder / "vllm.log"
    path.touch()
    handler = {"class": "logging.FileHandler", "filename": str(path), "formatter": "line"}
    config = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(process)d %(levelname)s %(message)s"}},
        "handlers": {"file": handler},
        "loggers": {"vllm": {"handlers": ["file"], "level": "INFO", "propagate": False}},
    }
    settings = folder / "logging.json"
    settings.write_text(json.dumps(config))
    os.environ["VLLM_LOGGING_CONFIG_PATH"] = str(settings)
    os.environ["VLLM_CONFIGURE_LOGGING"] = "1"
    return path


def told() -> str:
    """Where the log lies and its last lines, for an error; who reads it finds the log there."""
    path = log_file()
    lines = path.read_text(errors="replace").splitlines()
    return "\n".join([f"The end of {path}:", *lines[-NUM_TAIL_LINES:]])


def find(*marks: str) -> str | None:
    """The last line of the log that holds one of the marks, in lower case; settings tell nothing."""
    lines = [line for line in log_file().read_text(errors="replace").splitlines() if " INFO " not in line]
    return next((line for line in reversed(lines) if any(mark in line.lower() for mark in marks)), None)
