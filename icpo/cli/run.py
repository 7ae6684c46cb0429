"""Entry point: `python -m icpo.run +exp=NAME ...` composes, checks, builds and runs a job or a sweep."""

import logging
import os
import signal
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

try:
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig

    from icpo import config as conf
    from icpo.cli.errors import fails_alone, stops_the_run, told
    from icpo.cli.late_help import late_help_texts
except KeyboardInterrupt:  # while all this loads
    sys.exit(128 + signal.SIGINT)


logger = logging.getLogger("icpo")
plans: list[Any] = []  # of a dry run's cells, in this process


@hydra.main(version_base="1.3", config_path=conf.config_source(), config_name="config")
def run_job(config: DictConfig) -> None:
    """One job: check, build, run. A failed job does not stop the others of a sweep; a wrong setting does."""
    with stops_the_run():
        if conf.is_single() and not config.get("dry_run"):
            conf.note_run(config)
        conf.check_config(config)
        values = conf.resolved(config)
        job, tracker = conf.build(config.job), conf.build(config.tracking)
        if values.get("dry_run"):
            return _add_plan(str(values["cell"]), job)
        digest, sources = conf.config_digest(values), conf.sources(values)
        getattr(job, "preflight", lambda: None)()

    from icpo.evaluation.cell import run_cell

    folder = Path(HydraConfig.get().runtime.output_dir)
    with fails_alone(folder):
        run_cell(job, tracker=tracker, folder=folder, values=values, digest=digest, sources=sources)


def _add_plan(cell: str, job: object) -> None:
    """Logs what a cell needs at most, and once what a run would lack; nothing is sampled."""
    from icpo.evaluation.dry_run import plan_of
    from icpo.evaluation.rates import describe

    plan = plan_of(cell, job)
    logger.info("%s", describe(cell, plan.need, plan.rates))
    if plan.warning and plan.warning not in {earlier.warning for earlier in plans}:
        logger.warning("%s", plan.warning)
    plans.append(plan)


def _log_total() -> None:
    """Logs what all cells of a dry run need, where there are several."""
    from icpo.evaluation.rates import describe_total

    if len(plans) > 1:
        logger.info("%s", describe_total([(plan.need, plan.rates) for plan in plans]))


def main(*, makes_report: bool = True) -> None:
    """Runs, then makes the report of what is stored; the exit status says whether all went well.

    Processes that share a run leave out the report (`makes_report`): `python -m icpo.report RUN` makes it.
    """
    logging.raiseExceptions = False  # a log that cannot be written, as on a full disk, is no traceback
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(conf.help_text(_config_folders(sys.argv[1:])))
        return
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # raises instead of printing a traceback of its own
    with told(run_job, makes_report=makes_report), late_help_texts():
        conf.check_arguments(sys.argv[1:])
        run_job()
        _log_total()


def _config_folders(arguments: list[str]) -> list[Path]:
    """The folders that `--config-dir` (or `-cd`) names."""
    flags = ("--config-dir", "-cd")
    apart = [after for flag, after in pairwise(arguments) if flag in flags]
    joined = [one.partition("=")[2] for one in arguments if one.startswith("--config-dir=")]
    return [Path(name) for name in (*apart, *joined)]


if __name__ == "__main__":
    main()
