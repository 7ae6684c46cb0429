"""Named sets, sets joined by words, and sets by condition."""

from collections.abc import Sequence

from icpo.grading.maths import algebra
from icpo.grading.maths.forms import Answer, unordered
from icpo.grading.maths.intervals import REALS, above, below, intersection, union
from icpo.grading.maths.relations import labelled

EMPTY_SET = unordered("set", ())
_ZERO = Answer("scalar", value=algebra.number(0))
POSITIVE, NEGATIVE = above(_ZERO, "("), below(_ZERO, ")")
NAMED_SETS = {
    r"\emptyset": EMPTY_SET,
    r"\mathbb{R}": REALS,
    **dict.fromkeys((rf"\mathbb{{R}}{sign}" for sign in ("^+", "^{+}", "_+", "_{+}", "_{>0}")), POSITIVE),
    **dict.fromkeys((rf"\mathbb{{R}}{sign}" for sign in ("^-", "^{-}", "_-", "_{-}", "_{<0}")), NEGATIVE),
}


def joined_sets(elements: Sequence[Answer], connector: str) -> Answer | None:
    """Sets of one variable joined by "or" or "and", or None.

    A comma means "and" if anything is shared (x > 0, x < 3), else "or" (x < 0, x > 3).
    """
    names = {one.mark if one.shape == "labelled" else "" for one in elements}
    sets = [one.parts[0] if one.shape == "labelled" else one for one in elements]
    if len(names) > 1 or any(one.shape not in ("interval", "union") for one in sets):
        return None
    if connector != "or" and names == {""}:
        return None
    joined: Answer | None = union(sets) if connector == "or" else intersection(sets)
    if joined == EMPTY_SET:
        joined = union(sets) if connector == "," else None
    if joined is None:
        return None
    [name] = names
    return labelled(name, joined) if name else joined


def built_set(head: Answer, condition: Answer) -> Answer:
    """The set {x : condition}, solved where possible."""
    variable = head
    if head.shape == "labelled" and head.parts[0] == REALS:
        variable = Answer("scalar", value=algebra.symbol(head.mark))
    names_elements = (
        condition.shape == "labelled"
        and condition.parts[0].shape in ("interval", "union")
        and variable == Answer("scalar", value=algebra.symbol(condition.mark))
    )
    return condition.parts[0] if names_elements else Answer("builder", parts=(head, condition))
