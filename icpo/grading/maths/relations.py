"""Equations and inequalities between exact values, brought to one form each."""

from collections.abc import Sequence

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import Sum
from icpo.grading.maths.forms import Answer
from icpo.grading.maths.intervals import above, below, interval, union
from icpo.grading.maths.tokens import UnreadableError

_MIRRORED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}


def equation(left: Sum, right: Sum) -> Answer:
    """`left = right` as a sum that is 0, scaled, so that equations of one line are equal."""
    return Answer("equation", value=algebra.scaled(_difference(left, right), keep_sign=False))


def inequality(sides: Sequence[Sum], signs: Sequence[str]) -> Answer:
    """The real set of a chain of inequalities in one variable, else the inequality with 0 on its right.

    Raises UnreadableError for a chain that is neither.
    """
    if len(signs) == 1:
        [left, right], [sign] = sides, signs
        return _half_line(_difference(left, right), sign) or _compared(_difference(left, right), sign)
    if len(signs) == 2 and r"\ne" not in signs:
        halves = [_half_line(_difference(sides[i], sides[i + 1]), signs[i]) for i in range(2)]
        if halves[0] and halves[1]:
            return _intersection(halves[0], halves[1])
    raise UnreadableError("a chain of inequalities that bounds no variable")


def _difference(left: Sum, right: Sum) -> Sum:
    return algebra.add(left, algebra.negate(right))


def _compared(difference: Sum, sign: str) -> Answer:
    r"""`difference sign 0` with < or \le (or \ne) for its sign, scaled."""
    if sign == r"\ne":
        return Answer("inequality", sign, algebra.scaled(difference, keep_sign=False))
    if sign in (">", r"\ge"):
        difference, sign = algebra.negate(difference), _MIRRORED[sign]
    return Answer("inequality", sign, algebra.scaled(difference, keep_sign=True))


def _half_line(difference: Sum, sign: str) -> Answer | None:
    """The solutions of `a x + b sign 0` with numbers a and b; None if that is not its form."""
    linear = [(m, c) for m, c in difference.terms if any(_is_variable(g.name, g.kind) for g, _ in m)]
    rest = Sum(tuple(term for term in difference.terms if term not in linear))
    if len(linear) != 1 or len(linear[0][0]) != 1 or linear[0][0][0][1] != 1:
        return None
    [(_, slope)] = linear
    bound = Answer("scalar", value=algebra.multiply(algebra.negate(rest), algebra.number(1 / slope)))
    sign = _MIRRORED[sign] if slope < 0 and sign in _MIRRORED else sign
    match sign:
        case "<" | r"\le":
            return below(bound, ")" if sign == "<" else "]")
        case ">" | r"\ge":
            return above(bound, "(" if sign == ">" else "[")
    return union((below(bound, ")"), above(bound, "(")))


def _is_variable(name: str, kind: str) -> bool:
    return kind not in ("root", "imaginary") and name not in (r"\pi", "e", r"\infty")


def _intersection(one: Answer, other: Answer) -> Answer:
    """The interval between a lower and an upper half-line."""
    lower, upper = (one, other) if one.parts[1].is_infinite else (other, one)
    if not (lower.parts[1].is_infinite and upper.parts[0].is_infinite):
        raise UnreadableError("a chain of inequalities that bounds one side twice")
    return interval(lower.parts[0], upper.parts[1], lower.mark[0] + upper.mark[1])
