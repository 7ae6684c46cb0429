"""Secrets in settings are refused before Hydra writes the first file of a run."""

import re
import sys
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from icpo.errors import ConfigError
from icpo.safe_text import masked_text, names_a_secret, plain_secrets

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
    if found or masked_text(value) != value:
        raise ConfigError(f"{found[0] if found else name} {_WAY_OUT}")


class RefuseSecrets(Callback):
    """Ends a run whose files hold a secret word for word, as a YAML file of one's own may."""

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
