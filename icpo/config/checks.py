"""What is refused before anything is built."""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from icpo.config.messages import did_you_mean, no_value, one_line
from icpo.config.quoting import check_override
from icpo.config.source import REFERENCE, conf_folder, folders, keys_referred_to, never_read, presets
from icpo.config.targets import check_target, targets
from icpo.errors import ConfigError
from icpo.safe_text import has_plain_secret, names_a_secret

logger = logging.getLogger("icpo")

SWITCHES = ("dry_run", "watch", "accept_code_change")
NEEDED = ("tracking", "run_name", "cell", "output_root")
# By code; all other keys are there for others to refer to.
READ = (*SWITCHES, *NEEDED, "job", "allow_targets", "arms", "arm", "title")
BUDGET = re.compile(r"\+*(?:protocol|method)\.(num_(?:rounds|candidates|lookaheads|finals|samples))$")
FOLDERS = re.compile(r"[+~]*hydra\.(sweep\.(dir|subdir)|run\.dir)=")
NO_FOLDER = ("", ".", "..")
NESTED = re.compile(r"[{,]\s*['\"]?([\w.-]+)['\"]?\s*:\s*([^,}]*)")  # of a mapping on the command line
HOLDS_A_SECRET = (
    "looks like a secret, which would be stored with the settings. Put it into an environment variable: "
    "engine.api_key_env names one, and any other setting takes '${oc.env:NAME}'."
)
TRANSFORMERS = "icpo.engines.local.transformers.Transformers"
OPENAI = "icpo.engines.api.settings.OpenAISettings"
NO_EXPERIMENT = "No experiment selected. Pass +exp=NAME; presets: {presets}. See --help."


def check_argument(argument: str) -> None:
    """Raises ConfigError for an override that holds a secret."""
    name, _, value = argument.partition("=")
    pairs = [(name.lstrip("+~"), value), *NESTED.findall(value)]
    found = [
        key for key, text in pairs if names_a_secret(key) and text and "${" not in text and text != "null"
    ]
    if found or has_plain_secret(value):
        raise ConfigError(f"{found[0] if found else name} {HOLDS_A_SECRET}")


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuses what Hydra would take wrongly, or explain badly. Raises ConfigError."""
    chosen = re.compile(r"\+*(exp|job)=|-.*")
    if not any(chosen.match(argument) for argument in arguments):
        raise ConfigError(NO_EXPERIMENT.format(presets=", ".join(presets())))
    for argument in arguments:
        group, _, choice = argument.partition("=")
        check_argument(argument)
        check_override(argument)
        check_budget_key(group, choice)
        if group.lstrip("+~") == "variant":
            raise ConfigError(
                f"{argument}: variants are arms now, and a preset has its own. Pass arm={choice}."
            )
        if choice == "null" and (conf_folder() / group.lstrip("+")).is_dir():
            raise ConfigError(f"{argument} is no choice of {group}. To leave the group out, pass ~{group}.")
        if FOLDERS.match(argument):
            raise ConfigError(
                f"{argument} would put cells where no report finds them. Their folder is "
                "output_root/run_name/CELL: pass output_root=FOLDER or run_name=NAME."
            )
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


def check_budget_key(key: str, value: str = "NUMBER") -> None:
    """Refuses the keys of version 1 for the budget. Raises ConfigError."""
    if moved := BUDGET.match(key):
        raise ConfigError(
            f"{key} is a number of the budget, whatever the method: pass budget.{moved[1]}={value}. "
            "budget=small, medium or large sets all its numbers."
        )


def check_config(config: DictConfig) -> dict[str, Any]:
    """The settings as plain values. Raises ConfigError for a configuration that cannot run."""
    if unread := never_read():
        raise ConfigError(
            f"{unread[0]} would not be read: conf/ has a file of that name. Give it another name."
        )
    if OmegaConf.select(config, "job") is None:
        raise ConfigError(NO_EXPERIMENT.format(presets=", ".join(presets())))
    try:
        absent = [key for key in NEEDED if OmegaConf.select(config, key) is None]
        values, missing = _values(config)
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error)) from None
    if absent:
        raise ConfigError(f"Every run needs {', '.join(absent)}; leave {absent[0]} in, as {absent[0]}=VALUE.")
    if missing:
        raise ConfigError(" ".join(map(no_value, missing)))
    run_name, cell = values["run_name"], values["cell"]
    if any(part.strip() in NO_FOLDER for part in str(run_name).split("/")):
        raise ConfigError(f"run_name names a folder below output_root, got {run_name!r}.")
    if str(run_name).startswith("-"):
        raise ConfigError(f"run_name={run_name} would be read as an option: begin with another sign.")
    if "/" in str(cell) or cell in NO_FOLDER:
        raise ConfigError(
            f"The cell {str(cell)!r} would be no folder of its run, so that no report would find it. "
            "Choose names and labels without '/'."
        )
    if unclear := [key for key in SWITCHES if not isinstance(values.get(key, False), bool)]:
        raise ConfigError(f"{unclear[0]} must be true or false, got {values[unclear[0]]!r}.")
    if _is_single() and values["arm"] in (values.get("arms") or {}):
        raise ConfigError(f"arm={values['arm']} is run by a sweep. Leave out hydra.mode=RUN.")
    raw = cast(dict[str, Any], OmegaConf.to_container(config, resolve=False))
    _check_keys(raw)
    _check_weights(values)
    for group in ("protocol", "method"):
        for key in raw.get(group) or ():
            check_budget_key(f"{group}.{key}")
    allowed = _allowed(values)
    for path, target in targets(raw):
        check_target(path, target, allowed)
    return values


def _values(config: DictConfig) -> tuple[dict[str, Any], list[str]]:
    """The settings as plain values, or the keys that have none."""
    try:
        values = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
        return cast(dict[str, Any], values), []
    except OmegaConfBaseException:
        if missing := sorted(OmegaConf.missing_keys(config)):
            return {}, missing
        raise


def _is_single() -> bool:
    """Whether this process runs one cell that no sweeper planned."""
    return HydraConfig.initialized() and bool(HydraConfig.get().mode == RunMode.RUN)


def _allowed(values: Mapping[str, Any]) -> Sequence[str]:
    """The names of classes, modules and packages from elsewhere that may be built."""
    allowed = values.get("allow_targets") or []
    if not isinstance(allowed, list) or not all(isinstance(name, str) for name in allowed):
        raise ConfigError(
            f"allow_targets must be a list of names, as in allow_targets=[my_ext], got {allowed!r}."
        )
    return allowed


def _check_keys(raw: Any) -> None:
    """Refuses a key beside `job` that nothing reads, if it was added or looks like one that is read.

    Others are logged. What the command line adds has to be read by this run, or by a file of
    `--config-dir`: that another preset reads it is of no use.
    """
    project, *own = map(keys_referred_to, folders())
    known = set(READ).union(REFERENCE.findall(str(raw)), *own)
    added = _added()
    for key in map(str, raw):
        if key in known or (key in project and key not in added):
            continue
        hint = did_you_mean(key, known)
        if hint or key in added:
            raise ConfigError(f"Nothing reads {key!r}: it would change nothing.{hint or ' Leave it out.'}")
        logger.warning("Nothing reads %r: it changes nothing.", key)


def _check_weights(values: Mapping[str, Any]) -> None:
    """Refuses what the command line says of a backbone's weights where its engine does not use it."""
    job = values["job"]
    engine, backbone = (isinstance(job, Mapping) and job.get(part) for part in ("engine", "backbone"))
    if not isinstance(engine, Mapping) or not isinstance(backbone, Mapping):
        return  # a job that loads the weights itself
    given = {one.partition("=")[0].lstrip("+") for one in _overrides()}
    dtype, num_gpus, target = backbone.get("dtype"), backbone.get("tensor_parallel"), engine.get("_target_")
    says_dtype = "backbone.dtype" in given and dtype not in ("auto", engine.get("dtype"))
    if says_dtype and target == TRANSFORMERS and engine.get("dtype") != "backbone":
        raise ConfigError(
            f"backbone.dtype={dtype} would change nothing: engine=transformers computes in "
            f"engine.dtype={engine.get('dtype')}. Pass engine.dtype=backbone."
        )
    if says_dtype and target == OPENAI:
        raise ConfigError(
            f"backbone.dtype={dtype} would change nothing: with engine=openai the server decides. "
            "Leave it out."
        )
    if "backbone.tensor_parallel" in given and num_gpus != 1 and target == TRANSFORMERS:
        raise ConfigError(
            f"backbone.tensor_parallel={num_gpus} would change nothing: engine=transformers uses one device. "
            "Pass engine=vllm, or leave it out."
        )


def _overrides() -> Sequence[str]:
    """What the command line and the arm say of this cell."""
    return tuple(HydraConfig.get().overrides.task) if HydraConfig.initialized() else ()


def _added() -> set[str]:
    """The keys that the command line adds by + or ++; of `+group@key=choice`, the key."""
    names = [one.partition("=")[0].rpartition("@")[2] for one in _overrides() if one.startswith("+")]
    return {re.split(r"[./]", name.lstrip("+"))[0] for name in names}
