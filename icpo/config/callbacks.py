"""Refusals before Hydra writes a file: secrets, impossible launchers and cells."""

import shutil
import sys
from typing import Any, NoReturn

from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from icpo.config.checks import HOLDS_A_SECRET, check_config
from icpo.config.values import build, without
from icpo.errors import IcpoError
from icpo.safe_text import escaped, masked_text, plain_secrets

OWN = ("hydra.", "hydra_plugins.", "icpo.")


class RefuseSecrets(Callback):
    """Ends a run whose configuration files hold a secret word for word."""

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A single cell."""
        _refuse(config)

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A sweep."""
        _refuse(config)


def _refuse(config: DictConfig) -> None:
    for key in plain_secrets(OmegaConf.to_container(config, resolve=False)):
        _leave(f"{key} {HOLDS_A_SECRET}")


def _leave(message: str) -> NoReturn:
    """Ends the process: Hydra makes a warning of an Exception of a callback."""
    sys.stderr.write(f"icpo: {escaped(masked_text(message))}\n")
    sys.exit(2)


def check_job(job: object, *, is_here: bool) -> None:
    """Raises IcpoError for a job that knows that it cannot run.

    `is_here` is whether it would run on this machine.
    """
    if (check := getattr(job, "check", None)) is not None:
        check(is_here=is_here)


class CheckLauncher(Callback):
    """Ends a sweep whose launcher or sweeper cannot run here.

    They are checked before Hydra builds them: it would call whatever they name.
    """

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A sweep."""
        allowed = OmegaConf.select(config, "allow_targets") or []
        for part in ("launcher", "sweeper"):
            target = str(OmegaConf.select(config, f"hydra.{part}._target_"))
            if not target.startswith(OWN) and target not in allowed:
                sys.exit(
                    f"icpo: hydra.{part}._target_ is {target!r}, which is no {part} of Hydra's. Choose one "
                    f"with hydra/{part}=NAME, or, if you trust it, allow it: ++allow_targets=[{target}]"
                )
            if target.endswith(".SlurmLauncher") and shutil.which("sbatch") is None:
                sys.exit(
                    "icpo: hydra/launcher=slurm needs SLURM, but there is no sbatch on the PATH. Start on a "
                    "login node of the cluster, or leave hydra/launcher out to run here."
                )


def _write_nothing(hydra: DictConfig) -> None:
    """Takes the folder and the files of a single cell out of Hydra's settings."""
    hydra.run.dir, hydra.output_subdir = ".", None
    handlers = hydra.job_logging.get("handlers") or {}
    for name in [name for name, handler in handlers.items() if "filename" in handler]:
        handlers[name] = {"class": "logging.NullHandler"}


class CheckCell(Callback):
    """Ends a run of a single cell that cannot run; a dry run gets no folder."""

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A single cell."""
        try:
            HydraConfig.instance().set_config(config)
            OmegaConf.set_readonly(config.hydra, None)  # set_config forbids what the run writes later
            cell = without(config, "hydra")
            check_config(cell)
            build(cell.tracking)
            job = build(cell.job)
            if cell.get("dry_run"):  # which may be of another machine
                _write_nothing(config.hydra)
            else:
                check_job(job, is_here=True)
        except IcpoError as error:
            _leave(str(error))
