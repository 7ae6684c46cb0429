"""Composition outside a command: a configuration from overrides, for Python and for tools."""

from collections.abc import Sequence

from hydra import compose as hydra_compose
from hydra import initialize_config_dir, initialize_config_module
from omegaconf import DictConfig

from icpo.config.messages import HYDRA_ERRORS, one_line
from icpo.config.source import config_source
from icpo.errors import ConfigError


def compose(overrides: Sequence[str]) -> DictConfig:
    """The configuration that a single run with these overrides has. Raises ConfigError."""
    source = config_source()
    package = source.removeprefix("pkg://")
    context = (
        initialize_config_dir(source, version_base="1.3")
        if package == source
        else initialize_config_module(package, version_base="1.3")
    )
    try:
        with context:
            return hydra_compose("config", overrides=list(overrides))
    except HYDRA_ERRORS as error:
        raise ConfigError(one_line(error)) from None
