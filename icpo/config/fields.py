"""Whether a node fits what it builds: its keys; its numbers, switches, texts, lists, objects and null."""

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.dataclasses import is_pydantic_dataclass

from icpo.config.messages import did_you_mean

WORDS = {int: "whole number", float: "number", bool: "switch (true or false)", str: "text"}
SETTINGS = ("_target_", "_args_", "_convert_", "_partial_", "_recursive_")  # Hydra's own


def misfits(kind: Callable[..., Any], values: Mapping[str, Any], name: str) -> Iterator[str]:
    """One sentence for each key of the node `name` that `kind` lacks or misses, or whose value does not fit.

    Of values only those of a dataclass are looked at, in fields of whole numbers, numbers, switches, texts,
    lists of these of any length or of a given one, and objects; null is kept from every field that does not
    allow it. A validated class checks its values itself, except that a node without a class is named here.
    """
    yield from _unfit_keys(kind, values, name)
    if not is_dataclass(kind):
        return
    annotations = _annotations(kind)
    for field in fields(kind):
        if field.name not in values:
            continue
        annotation, value = annotations.get(field.name, Any), values[field.name]
        wanted = _wanted(annotation)
        if isinstance(value, Mapping) and "_target_" not in value and (objects := _objects(annotation)):
            yield f"{field.name} needs `_target_: {' or '.join(objects)}`, got {dict(value)!r}"
        elif is_pydantic_dataclass(kind):
            continue
        elif wanted is not None and not wanted.fits(value):
            yield wanted.misfit(field.name, value)
        elif wanted is None and value is None and not _may_be_null(annotation):
            yield f"{field.name} must not be null"


def _unfit_keys(kind: Callable[..., Any], values: Mapping[str, Any], name: str) -> Iterator[str]:
    """Keys that are no parameter of `kind`, and parameters that are not given."""
    try:
        parameters = inspect.signature(kind).parameters
    except (TypeError, ValueError):  # no callable, which Hydra tells; or one in C, which does not tell
        return
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    for key in values:
        if key not in parameters and key not in SETTINGS:
            yield f"{name} has no {key!r}; it has {', '.join(parameters)}.{did_you_mean(key, parameters)}"
    missing = [
        key
        for key, one in parameters.items()
        if one.default is one.empty and one.kind is not one.VAR_POSITIONAL and key not in values
    ]
    if missing and not values.get("_partial_") and "_args_" not in values:
        yield f"{name} lacks {', '.join(missing)}"


def _annotations(kind: type) -> dict[str, Any]:
    """What the fields of a dataclass take, texts evaluated; without those that name what is not there."""
    try:
        return typing.get_type_hints(kind)
    except (NameError, AttributeError, TypeError, SyntaxError):  # e.g. imported for type checkers alone
        return {field.name: field.type for field in fields(kind) if not isinstance(field.type, str)}


def _objects(annotation: Any) -> list[str]:
    """The names under which the dataclasses are built that a field takes; a protocol's name in words."""
    if get_origin(annotation) in (Union, UnionType):
        return [name for inner in get_args(annotation) for name in _objects(inner)]
    if not isinstance(annotation, type):
        return []
    if is_dataclass(annotation):
        package = annotation.__module__.rpartition(".")[0]
        is_public = package and getattr(import_module(package), annotation.__name__, None) is annotation
        return [f"{package if is_public else annotation.__module__}.{annotation.__qualname__}"]
    return [f"a {annotation.__name__}"] if getattr(annotation, "_is_protocol", False) else []


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a field takes: an element, or a list of them (of `length` where that is set), or null besides."""

    element: type
    is_list: bool = False
    may_be_null: bool = False
    length: int | None = None

    def fits(self, value: Any) -> bool:
        """Whether the value is of that kind; a whole number is a number, and true is none."""
        if value is None:
            return self.may_be_null
        if self.is_list:
            return (
                isinstance(value, list | tuple)
                and self.length in (None, len(value))
                and all(self._is_element(one) for one in value)
            )
        return self._is_element(value)

    def misfit(self, name: str, value: Any) -> str:
        """What is wrong and, where it is but the brackets that lack, how to write it."""
        word = WORDS[self.element]
        number = "" if self.length is None else f"{self.length} "
        wanted = f"list of {number}{word.replace(' (', 'es (') if self.element is bool else f'{word}s'}"
        null = " or null" if self.may_be_null else ""
        told = f"{name} must be a {wanted if self.is_list else word}{null}, got {value!r}"
        lacks_brackets = self.is_list and self.length in (None, 1) and self._is_element(value)
        return f"{told}. Write {name}=[{value}]" if lacks_brackets else told

    def _is_element(self, value: Any) -> bool:
        return type(value) in ((int, float) if self.element is float else (self.element,))


def _wanted(annotation: Any) -> _Wanted | None:
    """What a field with this annotation takes; None where that is not for us to say."""
    if get_origin(annotation) in (Union, UnionType):
        known = [arg for arg in get_args(annotation) if arg is not NoneType]
        inner = _wanted(known[0]) if len(known) == 1 else None
        return None if inner is None else replace(inner, may_be_null=True)
    if get_origin(annotation) in (tuple, list, Sequence):
        kinds = get_args(annotation)
        has_length = get_origin(annotation) is tuple and kinds[-1] is not ...
        element, *others = kinds if has_length else kinds[:1]
        if element not in WORDS or any(other is not element for other in others):
            return None
        return _Wanted(element, is_list=True, length=len(kinds) if has_length else None)
    return _Wanted(annotation) if annotation in WORDS else None


def _may_be_null(annotation: Any) -> bool:
    """Whether null is among what a field with this annotation takes."""
    if get_origin(annotation) in (Union, UnionType):
        return any(map(_may_be_null, get_args(annotation)))
    if get_origin(annotation) is Literal:
        return None in get_args(annotation)
    return annotation in (Any, object, None, NoneType)
