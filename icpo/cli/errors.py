"""How a run ends: what an error stops, how it is told, and what the exit status says."""

import logging
import os
import re
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NoReturn

from icpo.config import HYDRA_ERRORS, SEEN_RUNS, SENT_AWAY, one_line, runs_here
from icpo.errors import HeldByAnother, IcpoError, Interrupted, RecordsError
from icpo.safe_text import escaped, masked_text
from icpo.store import read_status

FAILED_STATUS = 1
CANNOT_START_STATUS = 2
INTERRUPTED_STATUS = 128 + signal.SIGINT  # as a shell tells it

MAX_SAID_LETTERS = 300

logger = logging.getLogger("icpo")
_begun: list[Path] = []  # the folders of the cells that had a right configuration
_failures: list[Exception] = []
_held: list[Path] = []  # the folders of cells that another process worked on


@contextmanager
def stops_the_run() -> Iterator[None]:
    """A wrong setting or a missing package within ends the run: the other cells would meet it too."""
    try:
        yield
    except IcpoError as error:
        if not runs_here():
            logger.error("%s", error)
            raise
        leave(str(error))


@contextmanager
def fails_alone(folder: Path) -> Iterator[None]:
    """An error within is one cell's: it is logged, with its traceback if unforeseen, and the next begins."""
    _begun.append(folder)
    try:
        yield
    except Interrupted as stopped:
        _stop(str(stopped))
    except HeldByAnother as held:
        logger.warning("%s: %s", folder.name, held)
        _held.append(folder)
    except Exception as error:  # Hydra would tell of the first in a sweep alone, at its end, in no log
        # A launcher that waits for jobs elsewhere gives up at the first that raises; a status that tells of
        # the failure is enough.
        if not runs_here() and not _tells_of_failure(folder):
            raise
        if isinstance(error, IcpoError):
            logger.error("%s: %s", folder.name, error)
            if error.ends_run and runs_here():
                leave(str(error))
        else:
            logger.exception("%s: %s", folder.name, type(error).__name__)
        _failures.append(error)


@contextmanager
def told(job: Callable[..., Any], *, makes_report: bool = True) -> Iterator[None]:
    """A whole run: errors become one line, the report is made, the exit status says whether all went well.

    `job` is what Hydra calls for each cell; a ValueError or OSError that arose in it is a bug and keeps its
    traceback.
    """
    try:
        with _reported() if makes_report else nullcontext():
            yield
    except IcpoError as error:
        leave(str(error))
    except HYDRA_ERRORS as error:
        leave(one_line(error))
    except ValueError as error:
        if _arose_in(job, error):
            raise
        leave(f"Hydra cannot take one of the settings: {one_line(error)}")
    except OSError as error:
        if _arose_in(job, error):
            raise
        leave(f"The folder of the run cannot be made: {error}. Choose another output_root or run_name.")
    except KeyboardInterrupt:
        _stop("Stopped by SIGINT; what was finished is kept.")
    except Exception as error:
        if not type(error).__module__.startswith("submitit."):
            raise
        leave(_refused_by_slurm(error))
    if _failures or not _all_sent_away_are_done() or not all(map(_is_in_good_hands, _held)):
        sys.exit(1)


@contextmanager
def _reported() -> Iterator[None]:
    """Makes the reports however it ends, but for a run that was refused before any cell began.

    A tracker is given them where all cells had their turn.
    """
    had_their_turn = False
    try:
        yield
        had_their_turn = True
    finally:
        if SEEN_RUNS and (_begun or SENT_AWAY):
            from icpo.evaluation.cell import report_runs

            if not report_runs(SEEN_RUNS, track=had_their_turn):
                _failures.append(RecordsError("a report was not made"))


def _stop(message: str) -> NoReturn:
    """Ends the process as a shell expects of one that was interrupted."""
    sys.stderr.write(f"{shown(message)}\n")
    sys.exit(INTERRUPTED_STATUS)


def leave(message: str) -> NoReturn:
    """End the process with one line on standard error: status 2 if no cell began, else 1."""
    sys.stderr.write(f"{shown(message)}\n")
    sys.exit(FAILED_STATUS if _begun else CANNOT_START_STATUS)


def shown(message: str) -> str:
    """A message as it ends a run, its secrets masked and control characters escaped."""
    return f"icpo: {escaped(masked_text(message))}"


def _tells_of_failure(folder: Path) -> bool:
    """Whether a cell's status says that this process failed."""
    status = read_status(folder) or {}
    return (status.get("state"), status.get("pid")) == ("failed", os.getpid())


def _arose_in(job: Callable[..., Any], error: Exception) -> bool:
    """Whether an error arose in `job`, rather than in Hydra over a setting that it cannot take."""
    code = getattr(job, "__wrapped__", job).__code__
    return any(frame.f_code is code for frame, _ in traceback.walk_tb(error.__traceback__))


def _refused_by_slurm(error: Exception) -> str:
    """Why sbatch did not take a sweep, and how to make it smaller."""
    said = " ".join(str(error).split())[-MAX_SAID_LETTERS:]
    return (
        f"SLURM did not take the {len(SENT_AWAY)} cells of this sweep: {said}. Nothing was lost. At most "
        f"{_max_array_size()} cells fit into an array (MaxArraySize), fewer where your account has a limit "
        "(sacctmgr show qos: MaxSubmitJobs). Send so many at a time, one part after another, with "
        f"hydra.sweeper.max_batch_size={_max_array_size()}."
    )


def _max_array_size() -> str:
    """How many jobs SLURM takes in an array; `N` where it does not say."""
    with suppress(OSError, subprocess.SubprocessError):
        command = ["scontrol", "show", "config"]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=20).stdout
        if found := re.search(r"MaxArraySize\s*=\s*(\d+)", shown):
            return found[1]
    return "N"


def _is_in_good_hands(folder: Path) -> bool:
    """Whether a cell that another process worked on is done by now, or that process still works on it."""
    return (read_status(folder) or {}).get("state") in ("done", "running")


def _all_sent_away_are_done() -> bool:
    """Whether every cell that a launcher sent elsewhere says that it is done."""
    return all((read_status(cell) or {}).get("state") == "done" for cell in SENT_AWAY)
