"""Entry point: `python -m icpo.run +exp=NAME ...` composes, checks, builds and runs a job or a sweep."""

import os
import signal
import sys
from pathlib import Path

try:
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig

    from icpo import config as conf
    from icpo.cli.errors import fails_alone, stops_the_run, told
    from icpo.evaluation.planned import tell_plan, tell_total
except KeyboardInterrupt:  # while all this loads
    sys.exit(128 + signal.SIGINT)


@hydra.main(version_base="1.3", config_path=conf.config_source(), config_name="config")
def run_job(config: DictConfig) -> None:
    """One job: check, build, run. A failed job does not stop the others of a sweep; a wrong setting does."""
    with stops_the_run():
        conf.check_config(config)
        values = conf.resolved(config)
        job, tracker = conf.build(config.job), conf.build(config.tracking)
        if values.get("dry_run"):
            return tell_plan(str(values["cell"]), job)
        digest, sources = conf.config_digest(values), conf.sources(values)
        getattr(job, "preflight", lambda: None)()

    from icpo.evaluation.cell import run_cell

    folder = Path(HydraConfig.get().runtime.output_dir)
    with fails_alone(folder):
        run_cell(job, tracker=tracker, folder=folder, values=values, digest=digest, sources=sources)


def main(*, makes_report: bool = True) -> None:
    """Runs, then makes the report of what is stored; the exit status says whether all went well.

    Processes that share a run leave out the report (`makes_report`): `python -m icpo.report RUN` makes it.
    """
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # raises instead of printing a traceback of its own
    with told(run_job, makes_report=makes_report):
        conf.check_arguments(sys.argv[1:])
        run_job()
        tell_total()


if __name__ == "__main__":
    main()
