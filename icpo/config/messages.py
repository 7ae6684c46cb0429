"""Errors of pydantic, YAML, OmegaConf and Hydra as one useful line."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, InstantiationException, MissingConfigException
from omegaconf import OmegaConf
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    InterpolationKeyError,
    OmegaConfBaseException,
)
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from yaml import MarkedYAMLError, YAMLError

HYDRA_ERRORS = (HydraException, OmegaConfBaseException, YAMLError)
ADDED_BY_HAND = (
    "exp",
    "allow_targets",
    "accept_code_change",
)  # what no file sets: for others a plus would hide a typing error
KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "mapping_type": "a mapping",
    "dict_type": "a mapping",
    "none_required": "null",
    "finite_number": "a finite number",
}
BOUNDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "enum": "one of {expected}",
    "literal_error": "one of {expected}",
    "string_too_short": "text of at least {min_length} characters",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
    "instance": "a {kind}{lacks}",
}
UNION_MEMBERS = ("int", "float", "bool", "str", "constrained")


def one_line(error: Exception) -> str:
    """What went wrong, where, and how to fix it, in one line."""
    if isinstance(error, MarkedYAMLError) and (mark := error.problem_mark) is not None:
        return f"{mark.name}, line {mark.line + 1}, column {mark.column + 1}: {error.problem}. Fix the file."
    if isinstance(error, InterpolationKeyError) and (text := _nothing_there(error)):
        return text
    if isinstance(error, InstantiationException) and isinstance(error.__cause__, ValueError):
        cause = error.__cause__
        text = describe(cause) if isinstance(cause, ValidationError) else str(cause)
        return f"{text}; {str(error).splitlines()[-1]}"
    if isinstance(error, MissingConfigException) and error.options:
        return _no_choice(str(error.missing_cfg_file), error.options)
    if missing := re.search(r"Missing mandatory value: ([\w.]+)", str(error)):
        return no_value(missing[1])
    text = str(error).partition("Config search path")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    kept = "; ".join(line for line in lines if not (line.startswith("object_type") or _is_bad_advice(line)))
    return kept if "use +" in kept else kept + _suggestion(error.__cause__)


def no_value(key: str) -> str:
    """What to say of a setting that has to be given."""
    return f"No value for {key}. Pass {key}=VALUE."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence with similar known names; empty where there is none."""
    alike = get_close_matches(name, list(known))
    return f" Did you mean {' or '.join(alike)}?" if alike else ""


def _no_choice(path: str, options: Iterable[str]) -> str:
    """Of a group's file that is not there: its name, similar ones, and all that may be chosen."""
    group, _, name = path.partition("/")
    known = [one for one in options if not one.startswith("_")]
    hint = did_you_mean(name.rpartition("/")[2], known)
    if group == "benchmark" and "." in name:
        file = f"benchmark=_file benchmark.path={name} benchmark.name=NAME benchmark.kind=number"
        hint = f" For a file of your own: {file}."
    return f"Could not find '{path}'.{hint} There are {', '.join(known)}."


def _is_bad_advice(line: str) -> bool:
    advice = re.match(r"To append to your (?:config|default list) use \+([^=]*)", line)
    return advice is not None and advice[1] not in ADDED_BY_HAND


def _suggestion(cause: BaseException | None) -> str:
    """Of a key that cannot be overridden: similar keys beside it, or else where all keys are shown."""
    if not isinstance(cause, ConfigAttributeError | ConfigKeyError) or not OmegaConf.is_dict(
        cause.parent_node
    ):
        return ""
    known = [str(key) for key in cause.parent_node if not str(key).startswith("_")]
    if place := cause.parent_node._get_full_key(None):
        if not known:
            return f" {place} has no keys of its own: override the setting that it follows."
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


def describe(error: ValidationError) -> str:
    """The first problem of an error as one line."""
    first, *others = error.errors(include_url=False)
    if first["type"] == "value_error":  # of __post_init__, which names its keys
        return str(first["ctx"]["error"])
    if first["type"] == "missing":
        lacking = [_name(one["loc"]) for one in [first, *others] if one["type"] == "missing"]
        return f"{error.title} needs a value for {', '.join(lacking)}"
    if first["type"] == "unexpected_keyword_argument":
        return f"{error.title} has no {_name(first['loc'])!r}"
    same = [one for one in (first, *others) if one["loc"][0] == first["loc"][0]]  # members of a union
    first = max(same, key=lambda one: len(one["loc"]))
    name = _name(first["loc"])
    kinds = list(dict.fromkeys(kind for one in same if _name(one["loc"]) == name and (kind := _kind(one))))
    found = first["input"]
    text = f"{name} must be {' or '.join(kinds)}, got {found!r}" if kinds else f"{name}: {first['msg']}"
    if first["type"] == "instance" and isinstance(found, dict):
        return f"{text}. Name its class with `_target_`"
    is_scalar = any(one["type"] == "tuple_type" for one in same) and isinstance(found, str | int | float)
    return f"{text}. Write {name}=[{found}]" if is_scalar else text


def _kind(error: ErrorDetails) -> str | None:
    """What should have been there."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "greater_than" and isinstance(context["gt"], int):
        return f"at least {context['gt'] + 1}"
    whole = {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in context.items()}
    return KINDS.get(kind) or (BOUNDS[kind].format(**whole) if kind in BOUNDS else None)


def _name(place: tuple[int | str, ...]) -> str:
    """The key of a place: `lists[0]`; the parts that name a member of a union are left out."""
    first, *inner = place
    return str(first) + "".join(
        f"[{one}]" if isinstance(one, int) else f".{one}" for one in inner if _is_key(one)
    )


def _is_key(part: int | str) -> bool:
    """Whether a part of a place is a key rather than pydantic's word for a member of a union."""
    return isinstance(part, int) or (part.isidentifier() and part not in UNION_MEMBERS)
