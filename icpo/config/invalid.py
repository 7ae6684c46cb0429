"""What a validated class refused, in a line: the key, the value found, and the fix where it is known."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

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
    told = f"{name} must be {' or '.join(kinds)}, got {found!r}" if kinds else f"{name}: {first['msg']}"
    is_scalar = any(one["type"] == "tuple_type" for one in same) and isinstance(found, str | int | float)
    return f"{told}. Write {name}=[{found}]" if is_scalar else told


def _kind(error: ErrorDetails) -> str | None:
    """What should have been there."""
    kind = error["type"]
    if _is_above_a_whole_number(error):
        return f"at least {error['ctx']['gt'] + 1}"
    return (
        KINDS[kind] if kind in KINDS else BOUNDS[kind].format(**_rounded(error)) if kind in BOUNDS else None
    )


def _rounded(error: ErrorDetails) -> dict[str, Any]:
    """The context of an error, with whole numbers as such."""
    context = error.get("ctx", {})
    return {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in context.items()}


def _is_above_a_whole_number(error: ErrorDetails) -> bool:
    return error["type"] == "greater_than" and isinstance(error["ctx"]["gt"], int)


def _name(place: tuple[int | str, ...]) -> str:
    """The key of a place: `lists[0]`; the parts that name a member of a union are left out."""
    first, *inner = place
    return str(first) + "".join(
        f"[{one}]" if isinstance(one, int) else f".{one}" for one in inner if _is_key(one)
    )


def _is_key(part: int | str) -> bool:
    """Whether a part of a place is a key rather than pydantic's word for a member of a union."""
    return isinstance(part, int) or (part.isidentifier() and part not in UNION_MEMBERS)
