"""How a run ends: what an error stops, and the exit status."""

import logging
import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Protocol

from icpo.cli.output import CANNOT_START, FAILED, INTERRUPTED
from icpo.config import HYDRA_ERRORS, one_line
from icpo.errors import HeldByAnother, IcpoError, Interrupted
from icpo.evaluation.cell import StoredRun
from icpo.safe_text import escaped, masked_text
from icpo.store import read_status
from icpo.store.lock import holder_of

MAX_ERROR_CHARACTERS = 300
PATIENCE_SECONDS = 20.0  # for a process that began a cell, until it has noted what it will do

logger = logging.getLogger("icpo")


class Report(Protocol):
    """Makes the reports of runs; whether all were made."""

    def __call__(self, runs: Sequence[StoredRun], *, track: bool) -> bool:
        """With `track` a tracker is given the files."""


Missing = Callable[[], str]


@dataclass(slots=True)
class RunState:
    """What this process works on, and how it went.

    `elsewhere` are the cells that a launcher sent to other machines, `begun` those that started here and
    `held` those that another process works on, each with what says what that one leaves out ("" for nothing).
    In a process that such a launcher started, `is_here` is false. `failures` are those of cells.
    """

    is_here: bool = True
    runs: list[StoredRun] = field(default_factory=list)
    elsewhere: list[Path] = field(default_factory=list)
    begun: list[Path] = field(default_factory=list)
    held: dict[Path, Missing] = field(default_factory=dict)
    failures: list[Exception] = field(default_factory=list)
    is_reported: bool = True

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Within, a wrong setting or a missing package ends the run."""
        try:
            yield
        except IcpoError as error:
            if not self.is_here:
                logger.error("%s", error)
                raise
            self.leave(str(error))

    @contextmanager
    def cell(self, folder: Path, missing: Missing = str) -> Iterator[None]:
        """Within, an error is one cell's and is logged.

        Where another process works on the cell, `missing` says what of this command that one leaves out.
        """
        self.begun.append(folder)
        try:
            yield
        except Interrupted as stopped:
            _stop(str(stopped))
        except HeldByAnother as held:
            logger.warning("%s: %s", folder.name, held)
            self.held[folder] = missing
            if not self.is_here and not _is_served(folder, missing):
                raise
        except Exception as error:  # Hydra reports only the first in a sweep, at its end, in no log
            # A launcher that waits for jobs elsewhere gives up at the first that raises; a status that names
            # the failure is enough.
            if not self.is_here and not _has_failed_status(folder):
                raise
            if isinstance(error, IcpoError):
                logger.error("%s: %s", folder.name, error)
                if error.ends_run and self.is_here:
                    self.leave(str(error))
            else:
                logger.exception("%s: %s", folder.name, type(error).__name__)
            self.failures.append(error)

    @contextmanager
    def whole_run(self, *own: Callable[..., Any], report: Report | None) -> Iterator[None]:
        """Print errors as one line, make the report, set the exit status.

        `own` are the functions that Hydra calls: a ValueError or OSError that arose in one of them is a bug
        and keeps its traceback.
        """
        try:
            with nullcontext() if report is None else self._reported(report):
                yield
        except IcpoError as error:
            self.leave(str(error))
        except HYDRA_ERRORS as error:
            self.leave(one_line(error))
        except (ValueError, OSError) as error:
            if _arose_in(own, error):
                raise
            if isinstance(error, OSError):
                self.leave(
                    f"The folder of the run cannot be made: {error}. Choose another output_root or run_name."
                )
            self.leave(f"Hydra cannot take one of the settings: {one_line(error)}")
        except KeyboardInterrupt:
            _stop("Stopped by SIGINT; what was finished is kept.")
        except Exception as error:
            if not type(error).__module__.startswith("submitit."):
                raise
            self.leave(_refused_by_slurm(error, len(self.elsewhere)))
        are_done = all(_state_of(cell) == "done" for cell in self.elsewhere)
        are_served = [_is_served(cell, missing) for cell, missing in self.held.items()]
        are_in_good_hands = all(_state_of(cell) in ("done", "running") for cell in self.held)
        if self.failures:
            counts = f"{len(self.failures)} of {len(self.begun)} cells failed"
            sys.stderr.write(f"icpo: {counts}, as said above. Reports show what is stored.\n")
        is_well = self.is_reported and are_done and all(are_served) and are_in_good_hands
        if self.failures or not is_well:
            sys.exit(FAILED)

    def leave(self, message: str) -> NoReturn:
        """End the process with one line and a status.

        Status 2 if no cell began, else 1.
        """
        sys.stderr.write(f"{_shown(message)}\n")
        sys.exit(FAILED if self.begun else CANNOT_START)

    @contextmanager
    def _reported(self, report: Report) -> Iterator[None]:
        """Makes the reports however the run ends, unless it was refused before any cell began.

        A tracker is given them where all cells had their turn.
        """
        had_their_turn = False
        try:
            yield
            had_their_turn = True
        finally:
            if (self.begun or self.elsewhere) and not report(self.runs, track=had_their_turn):
                self.is_reported = False


def _stop(message: str) -> NoReturn:
    """Ends the process as a shell expects of one that was interrupted."""
    sys.stderr.write(f"{_shown(message)}\n")
    sys.exit(INTERRUPTED)


def _shown(message: str) -> str:
    """A message as it ends a run, its secrets masked and control characters escaped."""
    return f"icpo: {escaped(masked_text(message))}"


def _is_served(folder: Path, missing: Missing) -> bool:
    """Whether the process that holds a cell is to do all that was asked of it here; says what not."""
    until = time.monotonic() + PATIENCE_SECONDS
    while (left_out := missing()) and holder_of(folder) and time.monotonic() < until:
        time.sleep(0.5)
    if left_out:
        message = (
            f"{folder.name}: neither this command nor the process that worked on the cell does all that was "
            f"asked for: {left_out} missing. Give the same command again when that process has ended."
        )
        sys.stderr.write(f"{_shown(message)}\n")
    return not left_out


def _state_of(folder: Path) -> str | None:
    return (read_status(folder) or {}).get("state")


def _has_failed_status(folder: Path) -> bool:
    """Whether a cell's status says that this process failed."""
    status = read_status(folder) or {}
    return (status.get("state"), status.get("pid")) == ("failed", os.getpid())


def _arose_in(functions: Sequence[Callable[..., Any]], error: Exception) -> bool:
    """Whether an error arose in one of these, rather than in Hydra over a setting that it cannot take."""
    codes = [function.__code__ for function in functions]
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


def _refused_by_slurm(error: Exception, num_cells: int) -> str:
    """Why sbatch did not take a sweep, and how to make it smaller."""
    reason = " ".join(str(error).split())[-MAX_ERROR_CHARACTERS:]
    return (
        f"SLURM did not take the {num_cells} cells of this sweep: {reason}. Nothing was lost. At most "
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
