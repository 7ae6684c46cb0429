"""Entry point: `python -m icpo.run +exp=NAME ...` composes, checks, builds and runs a job or a sweep."""

import logging
import os
import sys
import traceback
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from icpo.configuration import (
    SEEN_RUNS,
    SENT_AWAY,
    build,
    check_arguments,
    check_config,
    config_digest,
    config_source,
    one_line,
    resolved,
    runs_here,
)
from icpo.errors import IcpoError, Interrupted
from icpo.planned import planned_cells
from icpo.records import read_status

logger = logging.getLogger("icpo")
failures: list[IcpoError] = []


@hydra.main(version_base="1.3", config_path=config_source(), config_name="config")
def run_job(config: DictConfig) -> None:
    """One job: check, build, run. A failed job does not stop the others of a sweep; a wrong setting does."""
    try:
        check_config(config)
        values = resolved(config)
        job, tracker = build(config.job), build(config.tracking)
        if values.get("dry_run"):
            plan(job, str(values["cell"]))
            return
        getattr(job, "preflight", lambda: None)()
    except IcpoError as error:
        if not runs_here():
            raise
        sys.exit(f"icpo: {error}")

    from icpo.jobs.cell import run_cell

    folder = Path(HydraConfig.get().runtime.output_dir)
    try:
        run_cell(job, tracker=tracker, folder=folder, values=values, digest=config_digest(values))
    except Interrupted as stopped:
        sys.exit(f"icpo: {stopped}")
    except IcpoError as error:
        # A launcher that waits for jobs elsewhere gives up at the first that raises; a status that tells of
        # the failure is enough.
        if not runs_here() and not tells_of_failure(folder):
            raise
        logger.error("%s: %s", folder.name, error)
        failures.append(error)


def tells_of_failure(folder: Path) -> bool:
    """Whether a cell's status says that this process failed."""
    status = read_status(folder) or {}
    return (status.get("state"), status.get("pid")) == ("failed", os.getpid())


def is_done(folder: Path) -> bool:
    """Whether a cell's status says that it is done."""
    return (read_status(folder) or {}).get("state") == "done"


def plan(job: object, name: str) -> None:
    """Says what the job needs at most; nothing is drawn, so there is nothing to report."""
    from icpo.jobs.planning import plan_line

    SEEN_RUNS.clear()
    logger.info("%s", plan_line(job, name))


def is_of_a_job(error: Exception) -> bool:
    """Whether an error arose in a job, rather than in Hydra over a setting that it cannot take."""
    job = getattr(run_job, "__wrapped__").__code__  # noqa: B009 (mypy does not know it)
    return any(frame.f_code is job for frame, _ in traceback.walk_tb(error.__traceback__))


def main() -> None:
    """Runs, then makes the report of what is stored; the exit status says whether all went well."""
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # raises instead of printing a traceback of its own
    try:
        check_arguments(sys.argv[1:])
        run_job()
    except IcpoError as error:
        sys.exit(f"icpo: {error}")
    except (HydraException, OmegaConfBaseException) as error:
        sys.exit(f"icpo: {one_line(error)}")
    except ValueError as error:
        if is_of_a_job(error):
            raise
        sys.exit(f"icpo: Hydra cannot take one of the settings: {one_line(error)}")
    finally:
        if SEEN_RUNS:
            from icpo.jobs.cell import report_runs

            report_runs(SEEN_RUNS)
    if failures or not all(map(is_done, (cell for run in SENT_AWAY for cell in planned_cells(run)))):
        sys.exit(1)


if __name__ == "__main__":
    main()
