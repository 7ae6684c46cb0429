"""Keys of forms: answers that may be equal share one.

So unlike answers need not be compared in pairs. A fingerprint is a number made from the values of an answer
at the point where `sampling` evaluates. It does not depend on brackets, units, labels or the order of
elements, since rules may forgive these.
"""

import math
import re
from collections.abc import Hashable, Iterable
from itertools import product
from zlib import crc32

from icpo.grading.maths import sampling
from icpo.grading.maths.algebra import symbol
from icpo.grading.maths.askable import is_askable
from icpo.grading.maths.forms import Answer
from icpo.grading.maths.quantities import unit_as_symbols

Keys = frozenset[Hashable]

_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,[1-9]\d{2})+")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_UNIT_FACTORS = {"percent": 0.01, "degree": math.pi / 180}
_INFINITY = 7777.7
_MAX_SIZE = 1e100
_MAX_CANCELLATION = (
    1e-3  # of the terms of a fingerprint; beyond it rounding could move it into another bucket
)


def keys(answer: Answer) -> Keys | None:
    """The keys of an answer; None if it may equal any other."""
    found: set[Hashable] = set()
    if letters := spelling(answer):
        found.add(("letters", letters.casefold()))
    if answer.shape in ("oversized", "words") or (answer.shape == "unread" and not is_askable(answer.source)):
        return frozenset([*found, ("text", answer.mark)])
    if answer.shape == "labelled" or (answer.shape == "set" and len(answer.parts) == 1):
        inner = keys(answer.parts[0])
        if inner is None:
            return None
        found |= inner
    numbers = fingerprints(answer)
    return (
        None
        if numbers is None
        else frozenset([*found, *(key for number in numbers for key in _buckets(number))])
    )


def spelling(answer: Answer) -> str:
    """The letters of an answer of letters alone, else ""."""
    source = answer.mark if answer.shape == "words" else answer.source
    letters = "".join(filter(str.isalnum, _COMMAND.sub("", source)))
    return letters if letters.isalpha() else ""


def surface(answer: Answer) -> Hashable:
    """What rules see beyond the form: digits, letters, order."""
    if answer.shape == "scalar" and (_GROUPED.fullmatch(answer.source) or spelling(answer)):
        return answer.source
    return answer.given


def fingerprints(answer: Answer) -> list[complex] | None:
    """The fingerprints of an answer, with its options; or None."""
    if answer.shape == "labelled":
        numbers = fingerprints(answer.parts[0])
        line = [] if answer.value is None else [sampling.value_of(answer.value)]
        return None if numbers is None or None in line else [*numbers, *filter(None, line)]
    if answer.shape == "based":
        return _of_digits(*answer.mark.split("_"))
    if answer.shape == "words":
        return [complex(crc32(spelling(answer).casefold().encode()))]
    if answer.value is not None:
        return _of_value(answer)
    if answer.shape in ("oversized", "unread"):
        return None
    return _combined(map(fingerprints, answer.parts))


def _of_value(answer: Answer) -> list[complex] | None:
    assert answer.value is not None
    if answer.is_infinite:
        return [complex(_INFINITY)] if answer.value == symbol(r"\infty") else [complex(-_INFINITY)]
    if answer.shape != "scalar" and not answer.value.is_complete:
        return None
    number = sampling.value_of(answer.value)
    if number is None:
        return None
    numbers = [number]
    if answer.mark in _UNIT_FACTORS:
        numbers.append(number * _UNIT_FACTORS[answer.mark])
    if answer.mark and (symbols := unit_as_symbols(answer.mark)) is not None:
        numbers.append(number * (sampling.value_of(symbols) or 1.0))
    if _GROUPED.fullmatch(answer.source):
        numbers.extend(_combined([complex(int(part))] for part in answer.source.split(",")) or [])
    return numbers


def _of_digits(digits: str, base: str) -> list[complex]:
    numbers = [complex(int(digits))] if digits.removeprefix("-").isdecimal() else []
    try:
        return [*numbers, complex(int(digits, int(base)))]
    except (ValueError, OverflowError):
        return numbers or [0j]


def _combined(parts: Iterable[list[complex] | None]) -> list[complex] | None:
    """One number for several, whatever their order; None if one is unknown or has several fingerprints."""
    total, size = 0j, 0.0
    numbers = list(parts)
    if len(numbers) == 1:
        return numbers[0]
    for one in numbers:
        if one is None or len(one) != 1 or abs(one[0]) > _MAX_SIZE:
            return None
        total += one[0] ** 2 + one[0] / 7
        size += abs(one[0]) ** 2 + abs(one[0]) / 7
    return None if abs(total) < _MAX_CANCELLATION * size else [total]


def _buckets(number: complex) -> Iterable[Hashable]:
    """Cells of grids of a relative width of 1e-5; numbers much closer than that share one."""
    size = abs(number)
    parts = (number.real, number.imag if abs(number.imag) > 1e-9 * size else 0.0)
    exponent = math.floor(math.log10(size)) - 5 if size > 1e-290 else 0
    for power, *shifts in product((exponent, exponent + 1), (0.0, 0.5), (0.0, 0.5) if parts[1] else (0.0,)):
        cell = (math.floor(part / 10.0**power + shift) for part, shift in zip(parts, shifts, strict=True))
        yield ("number", power, *shifts, *cell)
