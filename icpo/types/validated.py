"""A frozen dataclass whose values are checked when it is built: `@validated`.

Use it for what a configuration or a user builds (methods, protocols, engines' settings):

    @validated
    class Sampling:
        temperature: Annotated[float, Field(ge=0, le=2)]
        max_tokens: PositiveInt
        stop: tuple[str, ...] = ()

        def __post_init__(self) -> None:  # only what one field alone cannot say
            if self.max_tokens < len(self.stop):
                raise ValueError(...)

Ranges are pydantic's (`Field(ge=0)`, `PositiveInt`, `NonNegativeInt`, `Literal`). A whole number, a number,
a flag and a text are strict: "true" is no flag, true and 3.5 are no whole numbers. A list becomes the tuple
that the field asks for, a text the member of an enumeration. A field typed by a class takes its instances;
one typed by a protocol takes any object that has the protocol's members. `dataclasses.replace` checks again.

Values made by the thousand while sampling (Completion, Candidate, ...) stay plain dataclasses.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import field, make_dataclass
from enum import Enum
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, GetCoreSchemaHandler, Strict
from pydantic.dataclasses import dataclass
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import dataclass_transform, get_protocol_members, is_protocol

T = TypeVar("T")
BY_PYDANTIC = (Any, str, int, float, bool, bytes, NoneType, dict, list, set, frozenset, tuple, object)
CONTAINERS = (dict, list, set, frozenset, Mapping, Sequence)
SETTINGS = ConfigDict(strict=True, arbitrary_types_allowed=True, extra="forbid")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def validated(kind: type[T]) -> type[T]:
    """The class as a frozen dataclass that checks its values.

    Raises pydantic.ValidationError, a ValueError; a ValueError of `__post_init__` is in it.
    """
    hints = get_type_hints(kind, include_extras=True)
    own = inspect.get_annotations(kind)
    kind.__annotations__ = {name: checked(hints[name]) for name in own}
    return cast(type[T], dataclass(frozen=True, slots=True, config=SETTINGS)(kind))


def check_values(kind: type, values: Mapping[str, Any]) -> None:
    """Check values against the annotations of a dataclass.

    Raises:
        pydantic.ValidationError: a value does not fit.
    """
    try:
        hints = get_type_hints(kind, include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError):  # e.g. imported for type checkers alone
        return
    given = [(name, checked(hints[name])) for name in values if name in hints]
    dataclass(config=SETTINGS)(make_dataclass(kind.__name__, given))(**dict(values))


def checked(hint: Any) -> Any:
    """The annotation that makes pydantic check as described above."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[(checked(inner[0]), *inner[1:])]
    if origin in (Union, UnionType):
        return Union[tuple(map(checked, inner))]  # noqa: UP007
    if tuple in (hint, origin):
        tuples = tuple[tuple(map(checked, inner))] if inner else tuple  # type: ignore[misc]
        return Annotated[tuples, Strict(False)]
    if origin in CONTAINERS:
        return origin[tuple(map(checked, inner))]
    if not isinstance(hint, type) or origin is not None or hint in BY_PYDANTIC:
        return hint
    if issubclass(hint, Enum | PurePath):
        return Annotated[hint, Strict(False)]
    return Annotated[hint, Instance()]


class Instance:
    """Marks a field for instances of a class or protocol."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A check by a function; what is passed is kept as it is."""
        members = sorted(get_protocol_members(source)) if is_protocol(source) else None

        def check(value: Any) -> Any:
            missing = [name for name in members or () if not hasattr(value, name)]
            if missing or (members is None and not isinstance(value, source)):
                lacks = f", which needs {', '.join(missing)}" if missing else ""
                raise PydanticCustomError(
                    "instance", "must be a {kind}{lacks}", {"kind": source.__name__, "lacks": lacks}
                )
            return value

        return core_schema.no_info_plain_validator_function(check)
