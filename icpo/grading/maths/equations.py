"""Equations, approximations and memberships, and the values they give."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from icpo.grading.maths import algebra
from icpo.grading.maths.expressions import read_prefix
from icpo.grading.maths.forms import Answer
from icpo.grading.maths.intervals import REALS, difference
from icpo.grading.maths.labels import expression_label, name_of, usual_order
from icpo.grading.maths.numbers import approximates
from icpo.grading.maths.relations import equation, labelled
from icpo.grading.maths.tokens import Token, UnreadableError

Read = Callable[[Sequence[Token]], Answer]


def read_relation(sides: list[list[Token]], signs: list[str], read_one: Read) -> Answer:
    """A membership, an approximation, or an equation."""
    if r"\in" in signs or r"\notin" in signs:
        return _read_membership(sides, signs, read_one)
    if r"\approx" in signs:
        exact = sides[: signs.index(r"\approx") + 1]
        if len(exact) == 1:
            is_name = name_of(exact[0]) is not None
            return _read_equation(sides[:2], read_one) if is_name else read_one(exact[0])
        return _read_equation(exact, read_one)
    return _read_equation(sides, read_one)


def _read_membership(sides: list[list[Token]], signs: list[str], read_one: Read) -> Answer:
    name = name_of(sides[0])
    if len(signs) > 1 or name is None:
        raise UnreadableError("membership of what is no variable")
    members = read_one(sides[1])
    if signs == [r"\notin"]:
        members = difference(REALS, members)
    return labelled(name, members)


def _read_equation(sides: list[list[Token]], read_one: Read) -> Answer:
    first, last = sides[0], sides[-1]
    name = name_of(first)
    if name is None and len(sides) == 2 and (name := name_of(last)) is not None:
        first, last = last, first
    if name is not None:
        return _named(name, _last_value(sides, read_one) if last is sides[-1] else read_one(last))
    if any(token.kind == "begin" for token in (*first, *last)):
        return read_one(last)
    left, num_read = read_prefix(first)
    if num_read < len(first):
        raise UnreadableError("a side that is no expression")
    right = read_one(last)
    if right.shape != "scalar" or right.value is None:
        label = expression_label(left)
        if label is None:
            raise UnreadableError("an equation of what is no number")
        return labelled(label, right)
    if left.is_closed and right.value.is_closed:
        return _of_two_numbers(left, right)
    if left.is_closed and len(sides) == 2 and not right.mark:
        left, right = right.value, Answer("scalar", value=left)
    assert right.value is not None
    line = equation(left, right.value)
    if right.value.is_closed and (label := expression_label(left)) is not None:
        return labelled(label, right, line.value)
    if len(sides) > 2 or right.mark:
        raise UnreadableError("an equation with a unit, or of more than two sides")
    return line


def _last_value(sides: list[list[Token]], read_one: Read) -> Answer:
    """The last side, which must not differ from the number before it: x = 2 + 1 = 3."""
    last = read_one(sides[-1])
    before = read_one(sides[-2]) if len(sides) > 2 else None
    if before is None or before.shape != "scalar" or last.shape != "scalar" or before.mark:
        return last
    assert before.value is not None and last.value is not None
    are_numbers = before.value.is_closed and last.value.is_closed
    return _of_two_numbers(before.value, last) if are_numbers else last


def _of_two_numbers(left: algebra.Sum, right: Answer) -> Answer:
    """The value of 6 / 2 = 3, and the exact one of 1/3 = 0.33; UnreadableError for 2 = 3."""
    assert right.value is not None
    if left == right.value or right.mark or not (left.is_complete and right.value.is_complete):
        return right
    if approximates(right.value, left, 1):
        return Answer("scalar", value=left)
    if approximates(left, right.value, 1):
        return right
    raise UnreadableError("an equation of two numbers that differ")


def _named(name: str, value: Answer) -> Answer:
    """A named value; x = x + 1 is an equation, since the value holds the name."""
    line: algebra.Sum | None = None
    is_symbol = name and "(" not in name and (len(name) == 1 or not name.isupper()) and name.count("\\") <= 1
    if value.shape == "scalar" and value.value is not None and not value.mark and is_symbol:
        variable = algebra.symbol(name)
        if not variable.generators.isdisjoint(value.value.generators):
            return equation(variable, value.value)
        line = equation(variable, value.value).value
    return _in_usual_order(labelled(name, value, line))


def _in_usual_order(named: Answer) -> Answer:
    """A labelled tuple or ratio, (y, x) = (2, 1), as (x, y) = (1, 2)."""
    [value], names = named.parts, named.names
    order = usual_order(names) if names else None
    if order is None or order == sorted(order):
        return named
    joined = (":" if value.shape == "ratio" else ",").join(names[i] for i in order)
    name = joined if value.shape == "ratio" else f"({joined})"
    return labelled(name, replace(value, parts=tuple(value.parts[i] for i in order)))
