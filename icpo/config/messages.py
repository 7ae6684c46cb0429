"""Errors of YAML, OmegaConf and Hydra in one line each, with a way out that helps."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, InstantiationException
from omegaconf import OmegaConf
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    InterpolationKeyError,
    OmegaConfBaseException,
)
from pydantic import ValidationError
from yaml import MarkedYAMLError, YAMLError

from icpo.config.invalid import describe

HYDRA_ERRORS = (HydraException, OmegaConfBaseException, YAMLError)
ADDED_BY_HAND = ("exp", "allow_targets")  # what no file sets: for others a plus would hide a slip of the pen


def one_line(error: Exception) -> str:
    """What went wrong, without line breaks; where, for a file; how to mend it, where that can be told."""
    if isinstance(error, MarkedYAMLError) and (mark := error.problem_mark) is not None:
        return f"{mark.name}, line {mark.line + 1}, column {mark.column + 1}: {error.problem}. Mend the file."
    if isinstance(error, InterpolationKeyError) and (told := _nothing_there(error)):
        return told
    if isinstance(error, InstantiationException) and isinstance(error.__cause__, ValueError):
        cause = error.__cause__
        told = describe(cause) if isinstance(cause, ValidationError) else str(cause)
        return f"{told}; {str(error).splitlines()[-1]}"
    told = str(error).partition("Config search path")[0]
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    kept = "; ".join(line for line in lines if not (line.startswith("object_type") or _is_bad_advice(line)))
    return kept if "use +" in kept else kept + _suggestion(error.__cause__)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence with the known names that look alike, after a space; empty where none does."""
    alike = get_close_matches(name, list(known))
    return f" Did you mean {' or '.join(alike)}?" if alike else ""


def _is_bad_advice(line: str) -> bool:
    advice = re.match(r"To append to your (?:config|default list) use \+([^=]*)", line)
    return advice is not None and advice[1] not in ADDED_BY_HAND


def _suggestion(cause: BaseException | None) -> str:
    """Of a key that cannot be overridden: what is like it beside it, or else where all keys are told."""
    if not isinstance(cause, ConfigAttributeError | ConfigKeyError) or not OmegaConf.is_dict(
        cause.parent_node
    ):
        return ""
    known = [str(key) for key in cause.parent_node if not str(key).startswith("_")]
    if cause.parent_node._get_full_key(None):
        return did_you_mean(str(cause.key), known) or f" There, it can be {', '.join(known)}."
    return did_you_mean(str(cause.key), known) or " Append --cfg job to see all settings of the run."


def _nothing_there(error: InterpolationKeyError) -> str | None:
    """Of a value that a chosen file should set and that others refer to: which file; None of all else."""
    named = re.search(r"Interpolation key '(\w+)\.([\w.]+)' not found", str(error))
    if named is None or error.parent_node is None:
        return None
    group, name = named.groups()
    choices = OmegaConf.select(error.parent_node._get_root(), "hydra.runtime.choices")
    if choices is None and HydraConfig.initialized():
        choices = HydraConfig.get().runtime.choices
    choice = (choices or {}).get(group)
    if choice is None:
        return None
    return f"{group}/{choice}.yaml needs a value for {name}: {error.full_key} refers to it."
