"""Launchers and sweepers are checked before Hydra builds them: it would call whatever they name."""

import shutil
import sys
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

OWN = ("hydra.", "hydra_plugins.", "icpo.")


class CheckLauncher(Callback):
    """Ends a sweep whose launcher or sweeper is no plugin of Hydra's, or needs a SLURM that is not here."""

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
