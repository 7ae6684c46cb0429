"""Configurations for tests: what Hydra composes from the same choices is composed once a process."""

import pickle
from functools import cache
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf, open_dict

from icpo.config import config_source
from icpo.config.composing import ParsedFiles

CONF = Path(config_source()).resolve()


def _is_value(override):
    """Whether it sets a setting that there is, and chooses no file."""
    key = override.partition("=")[0]
    return key[0].isalpha() and not key.startswith("hydra.") and not (CONF / key).is_dir()


@cache
def _repository():
    return ParsedFiles(GlobalHydra.instance().config_loader().repository)


@cache
def _composed(overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        if not any(one.startswith("hydra.searchpath=") for one in overrides):
            GlobalHydra.instance().config_loader().repository = _repository()
        return pickle.dumps(compose("config", overrides=list(overrides), return_hydra_config=True))


def composed_with_hydra(*overrides):
    """What a run with these overrides has; its settings are set last, as Hydra sets them."""
    config = pickle.loads(_composed(tuple(one for one in overrides if not _is_value(one))))
    for value in OverridesParser.create().parse_overrides([one for one in overrides if _is_value(one)]):
        OmegaConf.update(config, value.key_or_group, value.value(), merge=True)
    return config


def composed(*overrides):
    """The same without the settings of Hydra itself."""
    config = composed_with_hydra(*overrides)
    drop_hydra(config)
    return config


def drop_hydra(config):
    """Removes them in place."""
    with open_dict(config):
        config.pop("hydra")
