r"""Derivatives: \frac{dy}{dx} is a name of its own, no quotient of products."""

import re
from collections.abc import Sequence
from itertools import pairwise

from icpo.grading.maths.tokens import Token, UnreadableError, squeeze

_SIGN = r"(?:d|\\(?:partial|Delta|delta)(?![A-Za-z]))"
_ORDER = r"(?:\^(?:\{\d\}|\d))?"
_VARIABLE = r" ?(?:[A-Za-z]|\\[A-Za-z]+)(?:_(?:\{\w+\}|\w))?"
_ABOVE = re.compile(rf"{_SIGN}{_ORDER}{_VARIABLE}")
_BELOW = re.compile(rf"(?:{_SIGN}{_VARIABLE}{_ORDER})+")
_BEGINNING = re.compile(rf"\\frac\{{{_SIGN}.*?\}}\{{{_SIGN}{_VARIABLE}")
_SCRIPT = re.compile(r"([_^])(\w)")


def derivative_name(top: Sequence[Token], bottom: Sequence[Token]) -> str | None:
    """The name of a derivative; None if the fraction is none.

    Raises UnreadableError for that of more than a variable, such as d(xy)/dx, or of nothing.
    """
    above, below = squeeze(top), squeeze(bottom)
    if not _BELOW.fullmatch(below) or not _has_differential(top, bottom[0].text):
        return None
    if not _ABOVE.fullmatch(above):
        raise UnreadableError("a derivative of more than a variable")
    return _SCRIPT.sub(r"\1{\2}", rf"\frac{{{above}}}{{{below}}}")


def begins_with_derivative(text: str) -> bool:
    """Whether squeezed tokens begin with a derivative, of whatever."""
    return _BEGINNING.match(text) is not None


def _has_differential(tokens: Sequence[Token], sign: str) -> bool:
    """Whether the sign is in front of something, or alone: not the d of abd."""
    texts = [token.text for token in tokens]
    return texts[:1] == [sign] or any(a == sign and b != "^" for a, b in pairwise(texts))
