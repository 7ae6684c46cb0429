"""Intervals of the real line and their unions, merged where they meet."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from operator import itemgetter

from icpo.grading.maths import algebra
from icpo.grading.maths.forms import Answer, unordered
from icpo.grading.maths.numbers import real_value
from icpo.grading.maths.tokens import UnreadableError

_INFINITY = Answer("scalar", value=algebra.symbol(r"\infty"))
_MINUS_INFINITY = Answer("scalar", value=algebra.negate(algebra.symbol(r"\infty")))

Ends = tuple[Fraction | float, Fraction | float]


def interval(low: Answer, high: Answer, brackets: str) -> Answer:
    """An interval; infinite ends are open, however they were written."""
    opening = "(" if low.is_infinite else brackets[0]
    closing = ")" if high.is_infinite else brackets[1]
    return Answer("interval", opening + closing, parts=(low, high))


def below(bound: Answer, closing: str) -> Answer:
    """All numbers below a bound."""
    return interval(_MINUS_INFINITY, bound, f"({closing}")


def above(bound: Answer, opening: str) -> Answer:
    """All numbers above a bound."""
    return interval(bound, _INFINITY, f"{opening})")


REALS = below(_INFINITY, ")")


def difference(whole: Answer, removed: Answer) -> Answer:
    """The real line without some numbers. Raises UnreadableError for other sets."""
    points = removed.parts if whole == REALS and removed.shape == "set" else ()
    by_value = {_real(point): point for point in points}
    if not points or None in by_value:
        raise UnreadableError("a difference of sets that is no union of intervals")
    placed = sorted(
        ((value, point) for value, point in by_value.items() if value is not None), key=lambda one: one[0]
    )
    ends = [_MINUS_INFINITY, *(point for _, point in placed), _INFINITY]
    return union([interval(low, high, "()") for low, high in pairwise(ends)])


def as_interval(pair: Answer) -> Answer | None:
    """The open interval that a pair in round brackets may mean."""
    if pair.shape == "tuple" and len(pair.parts) == 2 and all(part.shape == "scalar" for part in pair.parts):
        return interval(*pair.parts, "()")
    return None


def union(parts: Sequence[Answer]) -> Answer:
    """The union of intervals, pairs read as intervals, and sets.

    Pieces that overlap or touch are merged, and the rest sorted, if all ends are real numbers.
    """
    pieces: list[Answer] = []
    for part in parts:
        if part.shape == "set" and all(element.shape == "scalar" for element in part.parts):
            pieces.extend(interval(element, element, "[]") for element in part.parts)
        else:
            pieces.extend(part.parts if part.shape == "union" else [as_interval(part) or part])
    ends = [_ends(piece) for piece in pieces]
    placed = [(*end, piece) for end, piece in zip(ends, pieces, strict=True) if end is not None]
    if len(placed) < len(pieces):
        return unordered("union", tuple(pieces))
    placed.sort(key=lambda one: (one[0], one[2].mark[0] == "(", one[1]))
    merged: list[Answer] = []
    for *_, piece in placed:
        merged = _merged(merged, piece)
    return merged[0] if len(merged) == 1 else Answer("union", parts=tuple(merged), given=tuple(merged))


def intersection(sets: Sequence[Answer]) -> Answer | None:
    """The intersection of intervals and unions; None if not ordered.

    Of a lower and an upper half-line, the interval between whatever ends they have.
    """
    shared: Sequence[Answer] = _pieces(sets[0])
    for one in sets[1:]:
        if [*map(_ends, shared), *map(_ends, _pieces(one))].count(None):
            return _between(*sets) if len(sets) == 2 else None
        overlaps = (_overlap(a, b) for a, b in product(shared, _pieces(one)))
        shared = [overlap for overlap in overlaps if overlap is not None]
    return union(shared) if shared else unordered("set", ())


def _pieces(one: Answer) -> tuple[Answer, ...]:
    return one.parts if one.shape == "union" else (one,)


def _between(one: Answer, other: Answer) -> Answer | None:
    if not (one.shape == other.shape == "interval"):
        return None
    lower, upper = (one, other) if one.parts[1].is_infinite else (other, one)
    if not (lower.parts[1].is_infinite and upper.parts[0].is_infinite):
        return None
    return interval(lower.parts[0], upper.parts[1], lower.mark[0] + upper.mark[1])


def _overlap(one: Answer, other: Answer) -> Answer | None:
    """What two intervals with real ends share; None if nothing."""
    (a, b), (c, d) = (_known_ends(piece) for piece in (one, other))
    lower = max((a, one.mark[0] == "(", one), (c, other.mark[0] == "(", other), key=itemgetter(0, 1))
    upper = min((b, one.mark[1] == "]", one), (d, other.mark[1] == "]", other), key=itemgetter(0, 1))
    is_point = lower[0] == upper[0] and not lower[1] and upper[1]
    if lower[0] < upper[0] or is_point:
        return interval(lower[2].parts[0], upper[2].parts[1], lower[2].mark[0] + upper[2].mark[1])
    return None


def _known_ends(piece: Answer) -> Ends:
    ends = _ends(piece)
    assert ends is not None
    return ends


def _ends(piece: Answer) -> Ends | None:
    if piece.shape != "interval":
        return None
    low, high = map(_real, piece.parts)
    return None if low is None or high is None else (low, high)


def _real(end: Answer) -> Fraction | float | None:
    return real_value(end.value) if end.value is not None and not end.mark else None


def _merged(pieces: list[Answer], following: Answer) -> list[Answer]:
    """The pieces with one more that does not begin before any of them."""
    if not pieces:
        return [following]
    last = pieces[-1]
    last_ends, next_ends = _known_ends(last), _known_ends(following)
    has_gap = next_ends[0] > last_ends[1] or (
        next_ends[0] == last_ends[1] and last.mark[1] + following.mark[0] == ")("
    )
    if has_gap:
        return [*pieces, following]
    reaches_further = (next_ends[1], following.mark[1] == "]") > (last_ends[1], last.mark[1] == "]")
    end = following if reaches_further else last
    return [*pieces[:-1], interval(last.parts[0], end.parts[1], last.mark[0] + end.mark[1])]
