"""Composes the cells of a sweep; what cells share is composed once."""

import pickle
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import omegaconf._utils
import omegaconf.base
from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra._internal.config_repository import CachingConfigRepository
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig, OmegaConf
from omegaconf.grammar_parser import parse

# OmegaConf parses a reference such as ${method.name} each time that it sets or resolves it, which takes
# most of the time of both. The tree that it makes of a text is only read.
for module in (omegaconf.base, omegaconf._utils):
    module.parse = lru_cache(maxsize=4096)(parse)  # type: ignore[attr-defined]


class CellComposer:
    """Composes as Hydra's `load_sweep_config` does, to the byte.

    Each choice of files is composed once, then settings are set in a copy of it, as Hydra sets them. Copies
    are made by pickle, which is faster than `deepcopy`.
    """

    def __init__(self, loader: ConfigLoader, master: DictConfig) -> None:
        """`master` is the configuration of the whole sweep."""
        self._loader, self._master = cast(ConfigLoaderImpl, loader), master
        self._loader.repository = ParsedFiles(self._loader.repository)  # type: ignore[assignment]
        name, searched = master.hydra.job.config_name, list(master.hydra.overrides.hydra)
        _, self._files = self._loader._parse_overrides_and_create_caching_repo(name, searched)
        self.parser = OverridesParser.create(config_loader=loader)
        self._overrides: dict[str, Override] = {}
        self._composed: dict[tuple[str, ...], bytes] = {}

    def compose(self, overrides: Sequence[str]) -> DictConfig:
        """The configuration of a cell. Raises ConfigCompositionException."""
        given = list(map(self._parsed, overrides))
        settings = [one for one in given if self._is_setting(one)]
        choices = tuple(str(one.input_line) for one in given if one not in settings)
        if choices not in self._composed:
            config = self._loader.load_sweep_config(self._master, list(choices))
            self._composed[choices] = pickle.dumps(config)
        config = pickle.loads(self._composed[choices])
        self._loader._apply_overrides_to_config(settings, config)
        OmegaConf.copy_cache(from_config=self._master, to_config=config)
        for_task = [one for one in given if not one.is_hydra_override()]
        config.hydra.overrides.task = [one.input_line for one in for_task]
        config.hydra.job.override_dirname = get_overrides_dirname(
            for_task, **config.hydra.job.config.override_dirname
        )
        return cast(DictConfig, config)

    def _parsed(self, text: str) -> Override:
        if text not in self._overrides:
            self._overrides[text] = self.parser.parse_override(text)
        return self._overrides[text]

    def _is_setting(self, override: Override) -> bool:
        """Whether an override sets a value, and chooses no file. Hydra is left to refuse a sweep."""
        if override.is_hydra_override() or override.is_sweep_override():
            return False
        return isinstance(override.value(), dict) or not self._files.group_exists(override.key_or_group)


class ParsedFiles(CachingConfigRepository):
    """The configuration files, each parsed once."""

    def __init__(self, delegate: Any) -> None:
        super().__init__(delegate)
        self._pickled: dict[str, bytes] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "ParsedFiles":
        return self

    def load_config(self, config_path: str) -> ConfigResult | None:
        """A copy of what the file holds, since Hydra changes what it is given."""
        if config_path not in self._pickled:
            self._pickled[config_path] = pickle.dumps(self.delegate.load_config(config_path))
        return cast(ConfigResult | None, pickle.loads(self._pickled[config_path]))
