"""Refusals before Hydra writes a file: secrets, and impossible launchers."""

import re
import shutil
import sys
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from icpo.errors import ConfigError
from icpo.safe_text import has_plain_secret, names_a_secret, plain_secrets

OWN = ("hydra.", "hydra_plugins.", "icpo.")
_NESTED = re.compile(r"[{,]\s*['\"]?([\w.-]+)['\"]?\s*:\s*([^,}]*)")  # of a mapping on the command line
_WAY_OUT = (
    "looks like a secret, which would be stored with the settings. Put it into an environment variable: "
    "engine.api_key_env names one, and any other setting takes '${oc.env:NAME}'."
)


def check_argument(argument: str) -> None:
    """Raises ConfigError where an override holds a secret, which the message does not repeat."""
    name, _, value = argument.partition("=")
    pairs = [(name.lstrip("+~"), value), *_NESTED.findall(value)]
    found = [
        key for key, text in pairs if names_a_secret(key) and text and "${" not in text and text != "null"
    ]
    if found or has_plain_secret(value):
        raise ConfigError(f"{found[0] if found else name} {_WAY_OUT}")


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
        sys.stderr.write(f"icpo: {key} {_WAY_OUT}\n")
        sys.exit(2)  # Hydra makes a warning of an Exception of a callback


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
