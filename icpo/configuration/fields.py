"""Whether plain values fit the fields that they are for: numbers, switches, texts, lists and null."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

OWN_PACKAGE = "icpo."
WORDS = {int: "whole number", float: "number", bool: "switch (true or false)", str: "text"}


def own_class(target: str) -> type | None:
    """The class of that name, if it is defined in this project and not merely reached by way of it."""
    module, _, name = target.rpartition(".")
    if not module.startswith(OWN_PACKAGE):
        return None
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError:
        return None
    return found if isinstance(found, type) and found.__module__.startswith(OWN_PACKAGE) else None


def misfits(kind: type | None, values: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each value that does not fit its field of the dataclass `kind`.

    Only fields of whole numbers, numbers, switches and texts are looked at, and of lists of these, of any
    length or of a given one; null is kept from every field that does not allow it. All else is the
    dataclass's own business.
    """
    if kind is None or not is_dataclass(kind):
        return
    for field in fields(kind):
        if field.name not in values:
            continue
        wanted, value = _wanted(field.type), values[field.name]
        if wanted is not None and not wanted.fits(value):
            yield wanted.misfit(field.name, value)
        elif wanted is None and value is None and not _may_be_null(field.type):
            yield f"{field.name} must not be null"


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
    return annotation in (Any, object, None) or NoneType in get_args(annotation)
