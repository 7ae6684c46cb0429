"""Equality of answers: exact values, named rules, then math-verify."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import get_args

from icpo.grading.maths import algebra, sampling
from icpo.grading.maths.algebra import Sum
from icpo.grading.maths.askable import is_askable
from icpo.grading.maths.forms import Answer, Shape, normal_form
from icpo.grading.maths.intervals import as_interval
from icpo.grading.maths.numbers import approximates
from icpo.grading.maths.quantities import unit_as_symbols
from icpo.grading.maths.reading import read
from icpo.grading.maths.units import may_be_one_unit
from icpo.grading.maths.words import is_spelling
from icpo.grading.rules import GradingRules
from icpo.grading.workers import Outcome

Ask = Callable[[str, str], Outcome]

_UNIT_VALUES = {
    "percent": algebra.number(Fraction(1, 100)),
    "degree": algebra.multiply(algebra.symbol(r"\pi"), algebra.number(Fraction(1, 180))),
}
_UNORDERED = ("list", "set", "union", "cases")
_RANKS: dict[Shape, int] = {shape: rank for rank, shape in enumerate(get_args(Shape))}
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,[1-9]\d{2})+")
_NEVER_ASKED = frozenset({"double_factorial", "call"})  # math-verify reads n!! as (n!)!, f(x) as f x
_COMMAND = re.compile(r"\\[A-Za-z]+")
_SIGN = re.compile(r"\\(?:text|q?quad)(?![A-Za-z])|(\\[A-Za-z]+|[^\w\s.:;'\"`{}()$*\\]|_)")
_MAX_UNORDERED = 6  # elements matched one by one, beyond those equal at sight


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict (None: abstained), its rule, and whether a limit was exceeded."""

    correct: bool | None
    rule: str
    timed_out: bool = False

    def under(self, rule: str) -> "Verdict":
        """The same verdict; a yes is put down to `rule`."""
        return replace(self, rule=rule) if self.correct else self


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Equality of answers: reflexive, symmetric, not transitive (see votes)."""

    rules: GradingRules
    ask: Ask

    def verdict(self, one: str, other: str) -> Verdict:
        """Whether two answers, given as text, are equal."""
        if one.strip() == other.strip():
            return Verdict(True, "same_text")
        return self.compare(read(one), read(other))

    def compare(self, one: Answer, other: Answer) -> Verdict:
        """Whether two answers, given as forms, are equal."""
        if one == other:
            return Verdict(True, "same_value")
        first, second = sorted((one, other), key=lambda answer: _RANKS[answer.shape])
        return self._by_shape(first, second) or Verdict(False, "shape")

    def _by_shape(self, one: Answer, other: Answer) -> Verdict | None:
        """The verdict of the rule for two shapes in the order of `Shape`; None if they share no rule."""
        match one.shape, other.shape:
            case "oversized", _:
                return Verdict(False, "oversized")
            case "labelled", _:
                return self._labelled(one, other)
            case "words", _:
                return self._words(one, other)
            case "unread", _:
                return self._unread(one, other)
            case shape, same if shape == same:
                return self._same_shape(one, other)
            case "list", _:
                return self._list(one, other)
            case "set", _ if len(one.parts) == 1:
                return self.compare(one.parts[0], other).under("bracket_dropped")
            case "interval", "tuple" if pair := as_interval(other):
                return self.compare(one, pair).under("pair_is_interval")
            case "scalar", "based":
                return self._base(one, other)
        return None

    def _same_shape(self, one: Answer, other: Answer) -> Verdict:
        if one.shape == "scalar":
            return self._scalars(one, other)
        if one.shape == "based":
            return self._bases(one, other)
        if one.shape in ("equation", "inequality"):
            return self._relations(one, other)
        if one.shape == "interval" and one.mark != other.mark:
            return Verdict(False, "brackets")
        if one.shape in _UNORDERED:
            return self._unordered(one.parts, other.parts)
        return self._ordered(one.parts, other.parts)

    def _scalars(self, one: Answer, other: Answer) -> Verdict:
        assert one.value is not None and other.value is not None
        if one.mark == other.mark:
            return self._values(one.value, other.value)
        if one.mark and other.mark:
            if may_be_one_unit(one.mark, other.mark):
                return self._values(one.value, other.value)
            return Verdict(False, "unit")
        unit, measured, plain = one.mark or other.mark, *((one, other) if one.mark else (other, one))
        assert measured.value is not None and plain.value is not None
        letters = unit_as_symbols(unit)
        if letters is not None and algebra.multiply(measured.value, letters) == plain.value:
            return Verdict(True, "unit_letters")
        if unit in _UNIT_VALUES and algebra.multiply(measured.value, _UNIT_VALUES[unit]) == plain.value:
            return Verdict(True, f"{unit}_value")
        is_percent = unit == "percent"
        if not (self.rules.accept_percent_dropped if is_percent else self.rules.accept_unit_dropped):
            return Verdict(False, "unit")
        return self._values(one.value, other.value).under("percent_dropped" if is_percent else "unit_dropped")

    def _values(self, one: Sum, other: Sum) -> Verdict:
        if one == other:
            return Verdict(True, "same_value")
        if one.is_complete and other.is_complete:
            digits = self.rules.rounded_decimal_digits
            is_rounded = approximates(one, other, digits) or approximates(other, one, digits)
            return Verdict(is_rounded, "rounded_decimal" if is_rounded else "same_value")
        if sampling.differ(one, other):
            return Verdict(False, "sampled")
        if any(generator.kind in _NEVER_ASKED for generator in one.generators | other.generators):
            return Verdict(False, "unread")
        return self._math_verify(algebra.render(one), algebra.render(other))

    def _relations(self, one: Answer, other: Answer) -> Verdict:
        assert one.value is not None and other.value is not None
        if one.mark != other.mark or (one.value.is_complete and other.value.is_complete):
            return Verdict(False, "same_equation")
        return self._math_verify(normal_form(one), normal_form(other))

    def _bases(self, one: Answer, other: Answer) -> Verdict:
        values = [_based_value(*answer.mark.split("_")) for answer in (one, other)]
        return Verdict(None not in values and values[0] == values[1], "same_value")

    def _base(self, scalar: Answer, based: Answer) -> Verdict:
        digits = based.mark.partition("_")[0]
        is_same = scalar.source.upper() == digits or (
            digits.removeprefix("-").isdecimal()
            and scalar.value == algebra.number(int(digits))
            and not scalar.mark
        )
        return Verdict(is_same and self.rules.accept_base_dropped, "base_dropped")

    def _words(self, words: Answer, other: Answer) -> Verdict:
        r"""Words are letters, never products of symbols: "east" is not "seat"; nor are digits.

        A formula of these letters is not the word: \lnot true, A - B, a_n.
        """
        if other.shape != "words" and not _signs(other.source) <= _signs(words.mark):
            return Verdict(False, "same_words")
        one, two = _letters(words.mark), _letters(other.mark if other.shape == "words" else other.source)
        if not (is_spelling(one) or is_spelling(two)):
            one, two = one.casefold(), two.casefold()
        return Verdict(one == two and one.isalpha(), "same_words")

    def _unread(self, unread: Answer, other: Answer) -> Verdict:
        if other.shape == "unread" and unread.mark == other.mark:
            return Verdict(True, "same_text")
        left, right = unread.source, other.source or normal_form(other)
        if not (is_askable(left) and is_askable(right)):
            return Verdict(False, "unread")
        return self._math_verify(left, right)

    def _labelled(self, labelled: Answer, other: Answer) -> Verdict:
        [value] = labelled.parts
        if other.shape in ("labelled", "equation"):
            lines = (labelled.value, other.value)
            if lines[0] is not None and lines[0] == lines[1]:
                return Verdict(True, "same_equation")
            if other.shape == "equation":
                return Verdict(False, "same_equation")
            if labelled.mark and other.mark and not _may_be_one_label(labelled.mark, other.mark):
                return self._permuted(labelled, other) or Verdict(False, "label")
            return self.compare(value, other.parts[0])
        if not self.rules.accept_label_dropped:
            return Verdict(False, "label")
        return self.compare(value, other).under("label_dropped")

    def _permuted(self, one: Answer, other: Answer) -> Verdict | None:
        """The verdict on m = 1, b = 2 and b = 2, m = 1; None if they name different things."""
        names, others = ([re.sub("[{}]", "", name) for name in answer.names] for answer in (one, other))
        if one.parts[0].shape != other.parts[0].shape or sorted(names) != sorted(others) or not names:
            return None
        parts = other.parts[0].parts
        return self._ordered(one.parts[0].parts, [parts[others.index(name)] for name in names])

    def _list(self, bare: Answer, other: Answer) -> Verdict | None:
        """A list without brackets equals the tuple of the same order, and the set."""
        if other.shape in ("tuple", "bracket"):
            return self._ordered(bare.given, other.parts).under("bracket_dropped")
        if other.shape == "set":
            return self._unordered(bare.parts, other.parts).under("bracket_dropped")
        if other.shape == "scalar" and _GROUPED.fullmatch(other.source):
            return self.compare(bare, read(other.source.replace(",", ", "))).under("comma_parts")
        return None

    def _ordered(self, one: Sequence[Answer], other: Sequence[Answer]) -> Verdict:
        if len(one) != len(other):
            return Verdict(False, "num_elements")
        return _all(self._elements(a, b) for a, b in zip(one, other, strict=True))

    def _elements(self, one: Answer, other: Answer) -> Verdict:
        """The verdict on elements of two answers: {2} is not 2 there."""
        if (one.shape == "set") != (other.shape == "set"):
            return Verdict(False, "shape")
        return self.compare(one, other)

    def _unordered(self, one: Sequence[Answer], other: Sequence[Answer]) -> Verdict:
        if len(one) != len(other):
            return Verdict(False, "num_elements")
        left, right = list(one), list(other)
        for element in one:
            if element in right:
                left.remove(element)
                right.remove(element)
        if len(left) > _MAX_UNORDERED:
            return Verdict(False, "same_value")
        return self._matched(left, right)

    def _matched(self, left: list[Answer], right: list[Answer]) -> Verdict:
        """Whether the elements can be paired, each with an equal one; the first that finds none decides."""
        if not left:
            return Verdict(True, "same_value")
        failure = Verdict(False, "same_value")
        for i, candidate in enumerate(right):
            first = self._elements(left[0], candidate)
            rest = self._matched(left[1:], right[:i] + right[i + 1 :]) if first.correct else first
            if rest.correct:
                return first if first.rule != "same_value" else rest
            failure = rest if rest.timed_out else failure
        return failure

    def _math_verify(self, left: str, right: str) -> Verdict:
        outcome = self.ask(*sorted((left, right)))
        rule = "math_verify" if outcome in (Outcome.EQUAL, Outcome.DIFFERENT) else outcome.value
        return Verdict(outcome is Outcome.EQUAL, rule, outcome.is_exceeded)


def _all(verdicts: Iterator[Verdict]) -> Verdict:
    """The first no; else a yes under the last rule that had to forgive or to ask."""
    decided = Verdict(True, "same_value")
    for verdict in verdicts:
        if not verdict.correct:
            return verdict
        decided = verdict if verdict.rule != "same_value" else decided
    return decided


def _may_be_one_label(one: str, other: str) -> bool:
    """Whether two labels are the same, or y and f(x)."""
    first, second = sorted((one, other))
    return first == second or (second == "y" and first in ("f(x)", "g(x)", "h(x)"))


def _based_value(digits: str, base: str) -> int | None:
    """The number that digits write in a base; None if the base has no such digit, or is none."""
    try:
        return int(digits, int(base)) if base not in ("0", "1") else None
    except ValueError:
        return None


def _signs(text: str) -> set[str]:
    """What relates, changes or joins letters: commands, operators, indices, commas."""
    return set(filter(None, _SIGN.findall(text)))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, _COMMAND.sub("", text)))
