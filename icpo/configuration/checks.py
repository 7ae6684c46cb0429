"""What is refused before anything is built."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from icpo.configuration.fields import own_class
from icpo.configuration.source import conf_folder, presets
from icpo.configuration.values import SECRET, one_line
from icpo.errors import ConfigError

SWITCHES = ("dry_run", "watch")
NEEDED = ("tracking", "run_name", "cell", "output_root")
NO_FOLDER = ("", ".", "..")
NO_EXPERIMENT = "No experiment selected. Pass +exp=NAME; presets: {presets}. See --help."


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuses what Hydra would take wrongly, or explain badly. Raises ConfigError."""
    chosen = re.compile(r"\+*(exp|job)=|-.*")
    if not any(chosen.match(argument) for argument in arguments):
        raise ConfigError(NO_EXPERIMENT.format(presets=", ".join(presets())))
    for argument in arguments:
        group, _, choice = argument.partition("=")
        if SECRET.search(group):
            raise ConfigError(
                f"{group} looks like a secret, which would be stored with the settings. Put it into an "
                "environment variable; engine.api_key_env names it."
            )
        if choice == "null" and (conf_folder() / group.lstrip("+")).is_dir():
            raise ConfigError(f"{argument} is no choice of {group}. To leave the group out, pass ~{group}.")
        if re.match(r"\+?exp=.*,", argument):
            raise ConfigError(
                f"{argument} sweeps over presets, which would ignore the axes inside them. "
                "Start one run for each preset."
            )
        if re.match(r"\+*seeds=\[.*\],", argument):
            raise ConfigError(
                f"{argument} sweeps over seeds, whose cells would share a folder. Give all to each cell, "
                "as in seeds=[0,1,2], or start one run for each with its own run_name."
            )


def check_config(config: DictConfig) -> None:
    """Refuses a configuration that cannot run. Raises ConfigError."""
    if OmegaConf.select(config, "job") is None:
        raise ConfigError(NO_EXPERIMENT.format(presets=", ".join(presets())))
    try:
        absent = [key for key in NEEDED if OmegaConf.select(config, key) is None]
        missing = sorted(OmegaConf.missing_keys(config))
        allowed = config.get("allow_targets") or ()
        unclear = [key for key in SWITCHES if not isinstance(config.get(key, False), bool)]
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error)) from None
    if absent:
        raise ConfigError(f"Every run needs {', '.join(absent)}; leave {absent[0]} in, as {absent[0]}=VALUE.")
    if missing:
        raise ConfigError(f"No value for {', '.join(missing)}. Pass e.g. {missing[0]}=VALUE.")
    if any(part in NO_FOLDER for part in str(config.run_name).split("/")):
        raise ConfigError(f"run_name names a folder below output_root, got {config.run_name!r}.")
    if "/" in str(config.cell) or config.cell in NO_FOLDER:
        raise ConfigError(
            f"The cell {str(config.cell)!r} would be no folder of its run, so that no report would find it. "
            "Choose names and labels without '/'."
        )
    if unclear:
        raise ConfigError(f"{unclear[0]} must be true or false, got {config.get(unclear[0])!r}.")
    for path, target in _targets(OmegaConf.to_container(config, resolve=False)):
        if target not in allowed and own_class(target) is None:
            raise ConfigError(
                f"{path}._target_ is {target!r}, which is no class of this project. "
                f"If you trust it, allow it by name: +allow_targets=[{target!a}]"
            )


def _targets(node: Any, path: str = "config") -> list[tuple[str, str]]:
    if isinstance(node, Mapping):
        own = [(path, str(node["_target_"]))] if "_target_" in node else []
        return own + [found for key, child in node.items() for found in _targets(child, f"{path}.{key}")]
    if isinstance(node, list):
        return [found for i, child in enumerate(node) for found in _targets(child, f"{path}[{i}]")]
    return []
