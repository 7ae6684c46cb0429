"""The status of a cell: progress, process, and reason to stop."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from icpo.errors import RecordsError
from icpo.safe_text import escaped, masked_text
from icpo.store.json_files import Seal, read_json, replace_json
from icpo.store.lock import holder_of, this_process
from icpo.store.storage import now_text

STATUS_NAME = "status.json"
State = Literal["running", "done", "failed", "interrupted"]
TEXTS = ("state", "reason")
NUMBERS = (
    "wall_seconds",
    "num_sessions",
    "questions_done",
    "questions_total",
    "generated_tokens",
    "journal_records",
)


class Status:
    """Writes status.json of one session; wall_seconds and num_sessions add up over sessions."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._path = folder / STATUS_NAME
        self._before = stored_status(folder)
        fresh: dict[str, Any] = {"started": now_text(), "wall_seconds": 0.0, "num_sessions": 0}
        self._row = fresh | (self._before or {})
        self._earlier_seconds = float(self._row["wall_seconds"])
        self._began = clock()
        me = this_process()
        self._row |= {"host": me["host"], "pid": me["pid"], "num_sessions": self._row["num_sessions"] + 1}

    def mark(self, state: State, reason: str = "", **progress: Any) -> None:
        """Stores the state with the progress known so far, atomically."""
        now = now_text()
        wall_seconds = round(self._earlier_seconds + self._clock() - self._began, 3)
        self._row |= {
            "state": state,
            "reason": escaped(masked_text(reason)),
            "updated": now,
            "wall_seconds": wall_seconds,
            **progress,
        }
        self._row["finished"] = None if state == "running" else now
        replace_json(self._path, self._row)

    def put_back(self) -> bool:
        """Restore the status from before this session; False without one."""
        if self._before is None:
            return False
        replace_json(self._path, self._before)
        return True


def read_status(folder: Path) -> dict[str, Any] | None:
    """The status; failed if it says running and nobody holds the lock.

    None if the folder has no status. A process killed outright cannot say so itself, nor can a dead machine.

    Raises:
        RecordsError: the file is damaged, or a value in it is not of its kind.
    """
    row = stored_status(folder)
    if row is None or row.get("state") != "running" or holder_of(folder) is not None:
        return row
    row = stored_status(folder) or row
    return row if row.get("state") != "running" else row | {"state": "failed", "reason": _KILLED}


def stored_status(folder: Path, seal: Seal = Seal()) -> dict[str, Any] | None:  # noqa: B008  (immutable)
    """The content of status.json, checked. Raises RecordsError."""
    path = folder / STATUS_NAME
    row = read_json(path, seal)
    for name, value in (row or {}).items():
        if (name in TEXTS and type(value) is not str) or (name in NUMBERS and not _is_number(value)):
            kind = "a text" if name in TEXTS else "a number of at least 0"
            raise RecordsError(
                f"{path}: {name} must be {kind}, got {value!r}. Restore it, or delete it and run again."
            )
    return row


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def settle(folder: Path) -> dict[str, Any] | None:
    """Read the status, and store the failure of a dead process."""
    row = read_status(folder)
    if row is not None and row.get("reason") == _KILLED and row["state"] == "failed":
        row |= {"finished": now_text()}
        replace_json(folder / STATUS_NAME, row)
    return row


_KILLED = "killed: the process is gone and left no word; run the same command again to go on"
