"""Equations and inequalities between exact values, brought to one form each."""

from collections.abc import Sequence

from icpo.grading.maths import algebra
from icpo.grading.maths.algebra import Generator, Sum
from icpo.grading.maths.forms import Answer
from icpo.grading.maths.intervals import above, below, intersection, union
from icpo.grading.maths.labels import usual_order
from icpo.grading.maths.numbers import real_value
from icpo.grading.maths.tokens import UnreadableError

_MIRRORED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}


def equation(left: Sum, right: Sum) -> Answer:
    """`left = right` as a scaled sum that is 0."""
    return Answer("equation", value=algebra.scaled(_difference(left, right), keep_sign=False))


def labelled(name: str, value: Answer, line: Sum | None = None) -> Answer:
    """A value with its name, and their equation, if any."""
    return Answer("labelled", name, line, (value,))


def named_tuple(names: Sequence[str], values: Sequence[Answer]) -> Answer:
    """The tuple of named values in the usual order of their names; labelled, as written, if there is none."""
    order = usual_order(names)
    parts = tuple(values) if order is None else tuple(values[i] for i in order)
    value = Answer("tuple", parts=parts)
    return value if order is not None or "" in names else labelled(f"({','.join(names)})", value)


def inequality(sides: Sequence[Sum], signs: Sequence[str]) -> Answer:
    """The real set of a chain of inequalities in one variable.

    Else the inequality with 0 on its right.

    Raises UnreadableError for a chain that is neither.
    """
    solved = [_solved(_difference(sides[i], sides[i + 1]), sign) for i, sign in enumerate(signs)]
    if len(signs) == 1:
        return labelled(*solved[0]) if solved[0] else _compared(_difference(*sides), signs[0])
    if len(signs) == 2 and solved[0] and solved[1] and solved[0][0] == solved[1][0]:
        both = intersection([solved[0][1], solved[1][1]])
        if both is not None and both.parts:
            return labelled(solved[0][0], both)
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


def _solved(difference: Sum, sign: str) -> tuple[str, Answer] | None:
    """The variable and solutions of `a x + b sign 0` or `a |u| + b sign 0`; None for another form."""
    linear = [(m, c) for m, c in difference.terms if not Sum(((m, c),)).is_closed]
    if len(linear) != 1 or len(linear[0][0]) != 1 or linear[0][0][0][1] != 1:
        return None
    [([(generator, _)], slope)] = linear
    rest = Sum(tuple(term for term in difference.terms if term not in linear))
    bound = algebra.multiply(rest, algebra.number(-1 / slope))
    sign = _MIRRORED[sign] if slope < 0 and sign in _MIRRORED else sign
    if generator.kind == "symbol":
        return generator.name, _half_line(bound, sign)
    return _solved_modulus(generator, bound, sign) if generator.kind == "abs" else None


def _half_line(bound: Sum, sign: str) -> Answer:
    end = Answer("scalar", value=bound)
    match sign:
        case "<" | r"\le":
            return below(end, ")" if sign == "<" else "]")
        case ">" | r"\ge":
            return above(end, "(" if sign == ">" else "[")
    return union((below(end, ")"), above(end, "(")))


def _solved_modulus(modulus: Generator, bound: Sum, sign: str) -> tuple[str, Answer] | None:
    """The solutions of `|u| sign bound` for a positive bound and a linear u."""
    size = real_value(bound)
    if size is None or size <= 0 or sign not in _MIRRORED:
        return None
    [inner] = modulus.arguments
    upper = _solved(_difference(inner, bound), sign)
    lower = _solved(algebra.negate(algebra.add(inner, bound)), sign)
    if not upper or not lower:
        return None
    if sign in ("<", r"\le"):
        both = intersection([upper[1], lower[1]])
        return None if both is None else (upper[0], both)
    return upper[0], union((upper[1], lower[1]))
