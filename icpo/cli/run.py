"""Entry point: composes, checks, builds and runs a job or a sweep."""

import gc
import logging
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

try:
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from hydra.errors import ConfigCompositionException
    from omegaconf import DictConfig, open_dict

    from icpo import config as conf
    from icpo.cli.errors import RunState
    from icpo.cli.late_help import late_help_texts
    from icpo.cli.output import without_traceback
    from icpo.errors import RecordsError
    from icpo.evaluation.cell import StoredRun, report_runs, run_cell
    from icpo.evaluation.extending import missing_in
    from icpo.evaluation.progress import counting
    from icpo.store import note_planned
    from icpo.tracking import Tracker
except KeyboardInterrupt:  # while all this loads
    sys.exit(128 + signal.SIGINT)


@dataclass(frozen=True, slots=True)
class ReadyCell:
    """A checked cell: its job and the configuration to store."""

    run: StoredRun
    folder: Path
    values: dict[str, Any]
    job: Any
    tracker: Tracker


class Task:
    """The task of Hydra: `plan` for all cells, then each cell."""

    def __init__(self) -> None:
        self.state = RunState()
        self._ready: dict[Path, ReadyCell] = {}

    counting = staticmethod(counting)

    def plan(self, cells: Iterable[DictConfig], *, num_cells: int, is_here: bool) -> bool:
        """Check and build all cells; a dry run ends here."""
        ready = []
        with counting("checking", num_cells) as count:
            for config in cells:
                count()
                ready.append(_ready(config))
        if ready[0].values.get("dry_run"):
            _print_needs(ready)
            return False
        for cell in ready:
            conf.check_job(cell.job, is_here=is_here)
        for cell in ready:
            self._note(cell)
        self.state.is_here = is_here
        if is_here:
            self._ready = {cell.folder: cell for cell in ready}
        else:
            self.state.elsewhere = [cell.folder for cell in ready]
        return True

    def __call__(self, config: DictConfig) -> None:
        """One job. A failed job does not stop the others of a sweep; a wrong setting does."""
        with self.state.starting():
            cell = self._ready.pop(conf.folder_of(config), None) or _ready(config)
            if cell.values.get("dry_run"):
                return _print_needs([cell])
            self._note(cell)
            digest, sources = conf.config_digest(cell.values), conf.sources(cell.values)
            getattr(cell.job, "preflight", lambda: None)()
        folder = Path(HydraConfig.get().runtime.output_dir)
        with self.state.cell(folder, partial(missing_in, folder, cell.job, digest)):
            run_cell(
                cell.job,
                tracker=cell.tracker,
                folder=folder,
                values=cell.values,
                digest=digest,
                sources=sources,
            )

    def _note(self, cell: ReadyCell) -> None:
        """Remember the run of a cell, and note in its folder that the cell is planned."""
        if cell.run not in self.state.runs:
            self.state.runs.append(cell.run)
        with suppress(RecordsError):
            note_planned(cell.run.outputs / cell.run.run_name, [cell.folder.name])


def _ready(config: DictConfig) -> ReadyCell:
    """A configuration checked and built; of one that a sweeper composed, without Hydra's part."""
    if "hydra" in config:
        HydraConfig.instance().set_config(config)
        with open_dict(config):
            del config["hydra"]
    values = conf.stored(conf.check_config(config))
    run = StoredRun(Path(values["output_root"]), str(values["run_name"]), values["tracking"])
    return ReadyCell(run, conf.folder_of(config), values, conf.build(config.job), conf.build(config.tracking))


def _print_needs(cells: Sequence[ReadyCell]) -> None:
    """Print what cells need at most, and once what a run would lack; nothing is sampled."""
    from icpo.evaluation.dry_run import needs_of

    for line in needs_of({cell.folder.name: cell.job for cell in cells}):
        print(line, flush=True)


@without_traceback()
def main(*, makes_report: bool = True) -> None:
    """Run, then report what is stored; return the exit status.

    Processes that share a run leave out the report (`makes_report`): `python -m icpo.report RUN` makes it.
    """
    logging.raiseExceptions = False  # a log that cannot be written, as on a full disk, is no traceback
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(conf.help_text(_config_folders(sys.argv[1:])))
        return
    sys.argv[1:] = conf.with_quoted_question(sys.argv[1:])
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # raises instead of printing a traceback of its own
    gc.freeze()  # what is imported stays: looking through it for garbage takes a tenth of the time of a sweep
    task = Task()
    start = hydra.main(version_base="1.3", config_path=conf.config_source(), config_name="config")
    report = report_runs if makes_report else None
    with task.state.whole_run(Task.plan, Task.__call__, report=report), late_help_texts():
        conf.check_arguments(sys.argv[1:])
        try:
            start(task)()
        except ConfigCompositionException as error:
            if "Ambiguous value" in str(
                error
            ):  # what Hydra says of a sweep beside a setting that is not there
                sys.argv.append("--multirun")
                start(_Nothing())()  # raises the error of that setting
            raise


class _Nothing:
    """A task that takes any cells and runs none."""

    counting = staticmethod(counting)

    def plan(self, cells: Iterable[DictConfig], *, num_cells: int, is_here: bool) -> bool:
        return False

    def __call__(self, config: DictConfig) -> None:
        return None


def _config_folders(arguments: list[str]) -> list[Path]:
    """The folders that `--config-dir` (or `-cd`) names."""
    flags = ("--config-dir", "-cd")
    apart = [after for flag, after in pairwise(arguments) if flag in flags]
    joined = [one.partition("=")[2] for one in arguments if one.startswith("--config-dir=")]
    return [Path(name) for name in (*apart, *joined)]


if __name__ == "__main__":
    main()
