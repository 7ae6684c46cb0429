"""Where conf/ lies, and configurations to values: with run.py the only code that knows Hydra."""

import hashlib
import json
import logging
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, InstantiationException
from hydra.experimental.callback import Callback
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from icpo.errors import ConfigError

HYDRA_ERRORS = (HydraException, OmegaConfBaseException)
OWN_PACKAGE = "icpo."
SWITCHES = ("dry_run", "watch")
NOT_IN_DIGEST = (
    "tracking",
    "output_root",
    "run_name",
    "max_in_flight",
    "dry_run",
    "watch",
    "rates",
    "question_tokens",
    "allow_targets",
)
NEEDED = ("tracking", "run_name", "cell", "output_root")
ENGINE_PACE = (  # how fast an engine goes and what it may spend: a run goes on when they are changed
    "max_num_seqs",
    "admission_burst",
    "gpu_memory_utilization",
    "max_concurrency",
    "timeout_seconds",
    "max_retries",
    "first_wait_seconds",
    "max_wait_seconds",
    "max_requests",
    "max_tokens",
    "max_cost",
    "prompt_price",
    "completion_price",
    "api_key_env",
)
NO_EXPERIMENT = "No experiment selected. Pass +exp=NAME; presets: {presets}. See --help."
SECRET = re.compile(r"(?i)(api_?key|secret|password|auth(orization)?|access_token)$")
SEEN_RUNS: list[tuple[Path, str]] = []
SENT_AWAY: list[Path] = []
logger = logging.getLogger(__name__)


def config_source() -> str:
    """Where Hydra finds conf/: beside `icpo/` in a checkout, inside the package in a wheel."""
    root = Path(__file__).resolve().parents[1]
    is_checkout = (root / "pyproject.toml").is_file() and (root / "conf/config.yaml").is_file()
    return str(root / "conf") if is_checkout else "pkg://icpo.conf"


def _conf_folder() -> Path:
    """The folder conf/ of a checkout or of an installed package."""
    source = config_source()
    return Path(__file__).parent / "conf" if source.startswith("pkg://") else Path(source)


def presets() -> list[str]:
    """The names that +exp= takes."""
    names = [path.stem for path in (_conf_folder() / "exp").glob("*.yaml")]
    return sorted(name for name in names if not name.startswith("_"))


class RememberRun(Callback):
    """Notes which runs this process started, so that their reports are made even when a cell failed.

    A dry run draws nothing, so there is nothing to report.
    """

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A single cell."""
        self._note(config)

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A sweep, also one whose cells run elsewhere."""
        self._note(config)
        if "BasicLauncher" not in str(config.hydra.launcher["_target_"]) and not config.get("dry_run"):
            SENT_AWAY.append(Path(str(config.hydra.sweep.dir)))

    def _note(self, config: DictConfig) -> None:
        if config.get("dry_run"):
            return
        run = (Path(str(config.output_root)), str(config.run_name))
        if run not in SEEN_RUNS:
            SEEN_RUNS.append(run)


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
        if choice == "null" and (_conf_folder() / group.lstrip("+")).is_dir():
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
    if unclear:
        raise ConfigError(f"{unclear[0]} must be true or false, got {config.get(unclear[0])!r}.")
    for path, target in _targets(OmegaConf.to_container(config, resolve=False)):
        if target not in allowed and not _is_own_class(target):
            raise ConfigError(
                f"{path}._target_ is {target!r}, which is no class of this project. "
                f"If you trust it, allow it by name: +allow_targets=[{target!a}]"
            )


def build(node: Any) -> Any:
    """The value a node describes, built from its `_target_`. Raises ConfigError naming the key."""
    try:
        return instantiate(node, _convert_="all")
    except (InstantiationException, OmegaConfBaseException) as error:
        raise ConfigError(one_line(error)) from None


def resolved(config: DictConfig) -> dict[str, Any]:
    """The configuration as plain values, interpolations resolved. Raises ConfigError where one cannot be."""
    try:
        container = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error)) from None
    return _without_secrets(container)  # type: ignore[no-any-return]


def config_digest(values: Mapping[str, Any]) -> str:
    """A digest of what determines results: all but tracking, paths, throughput settings and budgets."""
    kept = json.dumps(_determining(values), sort_keys=True)
    return hashlib.blake2b(kept.encode(), digest_size=12).hexdigest()


def _determining(values: Mapping[str, Any]) -> dict[str, Any]:
    """What determines results, of a configuration or of a job in it."""
    kept = {key: value for key, value in values.items() if key not in NOT_IN_DIGEST}
    if isinstance(engine := kept.get("engine"), Mapping):
        kept["engine"] = {key: value for key, value in engine.items() if key not in ENGINE_PACE}
    for part in ("job", "evaluation"):
        if isinstance(inner := kept.get(part), Mapping):
            kept[part] = _determining(inner)
    return kept


def runs_here() -> bool:
    """Whether cells run in this process, rather than being sent elsewhere by a launcher."""
    return "BasicLauncher" in str(HydraConfig.get().launcher["_target_"])


def _without_secrets(node: Any, key: str = "") -> Any:
    """The same values, those of keys that name a secret masked: they are stored and tracked."""
    if isinstance(node, Mapping):
        return {str(key): _without_secrets(child, str(key)) for key, child in node.items()}
    if isinstance(node, list):
        return [_without_secrets(child, key) for child in node]
    return "(hidden)" if node is not None and SECRET.search(key) else node


def _targets(node: Any, path: str = "config") -> list[tuple[str, str]]:
    if isinstance(node, Mapping):
        own = [(path, str(node["_target_"]))] if "_target_" in node else []
        return own + [found for key, child in node.items() for found in _targets(child, f"{path}.{key}")]
    if isinstance(node, list):
        return [found for i, child in enumerate(node) for found in _targets(child, f"{path}[{i}]")]
    return []


def _is_own_class(target: str) -> bool:
    """Whether a target is a class defined in this project, and not merely reached by way of it."""
    module, _, name = target.rpartition(".")
    if not module.startswith(OWN_PACKAGE):
        return False
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError:
        return False
    return isinstance(found, type) and found.__module__.startswith(OWN_PACKAGE)


def one_line(error: Exception) -> str:
    """The message of one of Hydra's or OmegaConf's errors without its line breaks."""
    told = str(error).partition("Config search path")[0]
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return "; ".join(line for line in lines if not line.startswith("object_type"))
