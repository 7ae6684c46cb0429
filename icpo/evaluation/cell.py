"""Runs one job in its folder, and the report of a run."""

import logging
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from icpo.errors import EngineError, IcpoError
from icpo.evaluation.interrupt import Interrupt
from icpo.store import BEGAN, CellRecords, planned_cells, run_cells, settle
from icpo.tracking import Tracker, TrackerRun, log_report, tracker_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run to report, with the settings of its tracker."""

    outputs: Path
    run_name: str
    tracking: Mapping[str, Any]


class Job(Protocol):
    """What conf/job/NAME.yaml builds when it needs nothing but a folder: theory, training."""

    def run(self, cell: Path) -> Mapping[str, Any]:
        """Does the work and returns what metrics.json is to hold."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a sampling job works with: records, tracker and stop flag."""

    records: CellRecords
    tracking: TrackerRun
    interrupt: Interrupt

    def check(self) -> None:
        """Raises Interrupted when a signal stopped the run."""
        self.interrupt.check()


@runtime_checkable
class SamplingJob(Protocol):
    """A job that samples from an engine and keeps records."""

    def sample(self, cell: Cell) -> Mapping[str, Any]:
        """Does the work and returns what metrics.json is to hold."""


def run_cell(
    job: Job | SamplingJob,
    *,
    tracker: Tracker,
    folder: Path,
    values: Mapping[str, Any],
    digest: str,
    sources: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Run a job in its folder, or continue it.

    Its status says how it ended. `sources` are digests of the code of classes from outside the project, by
    name: with other code than a cell began with it goes on only where `values` has `accept_code_change`.

    Raises what it raises, and Interrupted where a signal came, though it be too late to stop it.
    """
    with Interrupt() as interrupt:
        with CellRecords(folder, config=values, config_digest=digest) as records:
            if sources:
                accepts_changes = bool(values.get("accept_code_change"))
                records.resolve_code(sources, accepts_changes=accepts_changes)
            records.mark("running")
            with tracker.start(
                folder,
                run_name=str(values["run_name"]),
                cell_name=folder.name,
                job_type=_job_type(values),
                config=values,
            ) as tracking:
                try:
                    if isinstance(job, SamplingJob):
                        metrics = job.sample(Cell(records, tracking, interrupt))
                    else:
                        metrics = job.run(folder)
                except EngineError:
                    interrupt.check()  # the signal ended the engine's process too: that is no failure
                    raise
                records.write_metrics(metrics)
                tracking.summary(metrics)
            records.mark("done")
        interrupt.check()  # a signal too late to stop this job stops those that would follow


def _job_type(values: Mapping[str, Any]) -> str:
    """The method of a cell, or the name of another job."""
    method = values.get("method")
    return str(method["name"]) if isinstance(method, Mapping) else str(values["run_name"])


def report_runs(runs: Sequence[StoredRun], *, track: bool) -> bool:
    """Make and print each run's report from what is stored.

    Notes which cells were killed. With `track` the report's files are kept as an artifact beside the runs of
    the cells. Returns whether all reports were made: where one was not, the files of an earlier one stay as
    they were.
    """
    from icpo.report import print_report, write_report
    from icpo.report.dashboard import write_watched

    are_made = True
    for run in runs:
        try:
            for cell in run_cells(run.outputs, run.run_name):
                settle(cell)
            report = write_report(run.outputs, run.run_name)
            planned = planned_cells(run.outputs / run.run_name, since=BEGAN)
            print_report(report, of_command={cell.name for cell in planned})
            if len(report.frame):
                print("Next:", _dashboard_command(run))
            for address in write_watched(run.outputs, report):
                logger.info("The question, round by round: %s", address)
            if track:
                log_report(run.outputs / run.run_name, report.paths, tracker_of(run.tracking))
        except (IcpoError, OSError) as error:
            are_made = False
            logger.error("No report of %s, or not all of it: %s", run.run_name, error)
            if (table := run.outputs / run.run_name / "report" / "table.csv").exists():
                logger.error("%s may be of an earlier state of the run.", table)
    return are_made


def _dashboard_command(run: StoredRun) -> str:
    """What shows a run question by question, as it can be typed here: `icpo` may not be on PATH."""
    words = ["icpo", "dashboard", run.run_name]
    if not shutil.which("icpo"):
        words[0] = os.path.relpath(Path(sys.executable).with_name("icpo"))
    if run.outputs != Path("outputs"):
        words += ["--outputs", str(run.outputs)]
    return shlex.join(words)
