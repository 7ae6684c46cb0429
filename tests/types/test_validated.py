"""`validated`: what a frozen, checked dataclass takes and what it refuses."""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, field, replace
from enum import Enum
from typing import Annotated, Any, Protocol

import pytest
from pydantic import Field, ValidationError

from icpo.config.messages import describe
from icpo.types import validated


class Colour(str, Enum):
    RED = "red"


class Named(Protocol):
    @property
    def name(self) -> str: ...


class Part:
    name = "part"


@validated
class Settings:
    number: Annotated[float, Field(ge=0, le=2)] = 1.0
    whole: int = 1
    flag: bool = False
    texts: tuple[str, ...] = ()
    colour: Colour = Colour.RED
    named: Named = field(default_factory=Part)
    part: Part | None = None
    by_name: Mapping[str, int] = field(default_factory=dict)
    either: int | tuple[int, ...] = 0

    def __post_init__(self) -> None:
        if self.whole == 13:
            raise ValueError("whole must not be 13")


def refused(**values: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Settings(**values)
    return describe(caught.value)


def test_a_list_becomes_a_tuple_and_a_text_a_member() -> None:
    settings = Settings(**{"texts": ["a"], "colour": "red", "number": 1})
    assert settings.texts == ("a",) and settings.colour is Colour.RED and settings.number == 1.0


def test_objects_are_kept_as_they_are() -> None:
    part = Part()
    assert Settings(named=part, part=part).named is part


def test_values_are_frozen_and_checked_again_when_replaced() -> None:
    settings = Settings()
    with pytest.raises(FrozenInstanceError):
        settings.whole = 2  # type: ignore[misc]
    assert replace(settings, whole=2).whole == 2
    with pytest.raises(ValidationError):
        replace(settings, whole=2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"flag": "true"}, ("flag", "true or false", "'true'")),
        ({"whole": 3.5}, ("whole", "whole number", "3.5")),
        ({"whole": True}, ("whole", "whole number", "True")),
        ({"whole": None}, ("whole", "None")),
        ({"number": "1"}, ("number", "'1'")),
        ({"number": 3}, ("number", "at most 2", "3")),
        ({"texts": "a"}, ("texts=[a]",)),
        ({"texts": [1]}, ("texts[0]", "text", "1")),
        ({"colour": "blue"}, ("colour", "'red'", "'blue'")),
        ({"named": {"x": 1}}, ("named", "Named", "name")),
        ({"part": 3}, ("part", "Part", "3")),
        ({"by_name": {"a": "b"}}, ("by_name.a", "whole number", "'b'")),
        ({"either": ["x"]}, ("either[0]", "whole number", "'x'")),
        ({"whole": 13}, ("whole must not be 13",)),
        ({"unknown": 1}, ("Settings", "unknown")),
    ],
)
def test_what_does_not_fit_is_named_with_what_would(values: dict[str, Any], words: tuple[str, ...]) -> None:
    message = refused(**values)
    assert all(word in message for word in words), message
    assert "\n" not in message
