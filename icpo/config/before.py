"""Checks of a cell before the first file of its run."""

import sys
from typing import Any, Protocol, runtime_checkable

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from icpo.config.checks import check_config
from icpo.config.values import build, resolved, without
from icpo.errors import IcpoError
from icpo.safe_text import escaped, masked_text


@runtime_checkable
class Checkable(Protocol):
    """A job that can tell beforehand that it cannot run."""

    def check(self, *, is_here: bool) -> None:
        """Raises IcpoError; `is_here` is whether it would run on this machine."""


def check_job(job: object, *, is_here: bool) -> None:
    """Raises IcpoError where files or packages that a job needs are missing."""
    if isinstance(job, Checkable):
        job.check(is_here=is_here)


class CheckCell(Callback):
    """Ends a run of a single cell that cannot run."""

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A single cell."""
        try:
            HydraConfig.instance().set_config(config)
            OmegaConf.set_readonly(config.hydra, None)  # set_config forbids what the run writes later
            cell = without(config, "hydra")
            check_config(cell)
            resolved(cell)
            build(cell.tracking)
            job = build(cell.job)
            if not cell.get("dry_run"):  # which may be of another machine
                check_job(job, is_here=True)
        except IcpoError as error:
            sys.stderr.write(f"icpo: {escaped(masked_text(str(error)))}\n")
            sys.exit(2)  # Hydra makes a warning of an Exception of a callback
