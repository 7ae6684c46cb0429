"""vLLM's log, kept in a file and shown on an error."""

import json
import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NUM_TAIL_LINES = 15


@dataclass(frozen=True, slots=True)
class VllmLog:
    """The file to which vLLM and its worker processes log."""

    path: Path

    def tail(self) -> str:
        """Its last lines, after its name."""
        lines = self.path.read_text(errors="replace").splitlines()
        return "\n".join([f"The end of {self.path}:", *lines[-NUM_TAIL_LINES:]])

    def find(self, *marks: str) -> str | None:
        """The last line with one of the marks, INFO lines left out."""
        lines = [line for line in self.path.read_text(errors="replace").splitlines() if " INFO " not in line]
        return next((line for line in reversed(lines) if any(mark in line.lower() for mark in marks)), None)


@cache
def process_log() -> VllmLog:
    """The log file of this process's engines.

    It is made, and vLLM configured to use it, at the first call. It stays in the temporary folder: vLLM still
    writes to it while the interpreter ends, and waits forever for its processes if it cannot.
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
    return VllmLog(path)
