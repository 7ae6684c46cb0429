"""Entry point: `python -m icpo.run +exp=NAME ...` composes, checks, builds and runs a job or a sweep."""

import logging
import os
import signal
import sys
from pathlib import Path

try:
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig

    from icpo.budget import Need, Rates, describe, describe_total
    from icpo.configuration import (
        build,
        check_arguments,
        check_config,
        config_digest,
        config_source,
        resolved,
    )
    from icpo.ending import fails_alone, stops_the_run, told
except KeyboardInterrupt:  # while all this loads
    sys.exit(128 + signal.SIGINT)

logger = logging.getLogger("icpo")
_plans: list[tuple[Need, Rates]] = []  # of the cells of a dry run
_warnings: list[str] = []  # each once, though many cells may meet it


@hydra.main(version_base="1.3", config_path=config_source(), config_name="config")
def run_job(config: DictConfig) -> None:
    """One job: check, build, run. A failed job does not stop the others of a sweep; a wrong setting does."""
    with stops_the_run():
        check_config(config)
        values = resolved(config)
        job, tracker = build(config.job), build(config.tracking)
        if values.get("dry_run"):
            from icpo.jobs.planning import missing_weights, plan_of

            _plans.append(plan_of(job))
            logger.info("%s", describe(str(values["cell"]), *_plans[-1]))
            if (missing := missing_weights(job)) and missing not in _warnings:
                _warnings.append(missing)
                logger.warning("%s", missing)
            return
        getattr(job, "preflight", lambda: None)()

    from icpo.jobs.cell import run_cell

    folder = Path(HydraConfig.get().runtime.output_dir)
    with fails_alone(folder):
        run_cell(job, tracker=tracker, folder=folder, values=values, digest=config_digest(values))


def main() -> None:
    """Runs, then makes the report of what is stored; the exit status says whether all went well."""
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # raises instead of printing a traceback of its own
    with told(run_job):
        check_arguments(sys.argv[1:])
        run_job()
        if len(_plans) > 1:
            logger.info("%s", describe_total(_plans))


if __name__ == "__main__":
    main()
