"""Checks that gold answers read as answers of their kind."""

import re
from fractions import Fraction

from icpo.benchmarks.columns import Item
from icpo.grading.alternatives import alternatives, joined
from icpo.grading.boxes import find_boxes
from icpo.grading.choices import choice_in
from icpo.grading.maths.askable import is_askable
from icpo.grading.maths.numbers import real_value
from icpo.grading.maths.reading import read
from icpo.prompts.options import LETTERS, letters
from icpo.types import AnswerKind

_BLANK = re.compile(r"[?._\s]+|nan|null", re.IGNORECASE)
_SIGN = re.compile(r"[^\w\\{}$]{1,4}|\\[A-Za-z]+\s*")  # an answer that only its text equals
_MARK = "####"  # of GSM8K: the working comes before it, the answer behind


def final_answer(gold: str) -> str:
    r"""The answer in a worked gold: after `####`, or in \boxed."""
    if len(several := alternatives(gold)) > 1:
        return joined(list(map(final_answer, several)))
    if _MARK in gold:
        return gold.rpartition(_MARK)[2].strip()
    boxed = [box.content for box in find_boxes(gold) if box.content is not None]
    return boxed[-1] if boxed else gold


def gold_fault(item: Item, kind: AnswerKind) -> str | None:
    """What is wrong with an item's gold, with the fix; or None."""
    if item.answer is None:
        return None
    faults = (_fault(item.text, one, kind) for one in alternatives(item.answer))
    return next((fault for fault in faults if fault is not None), None)


def _fault(text: str, gold: str, kind: AnswerKind) -> str | None:
    if kind is AnswerKind.CHOICE:
        return _choice_fault(text, gold)
    if kind is AnswerKind.EXPRESSION:
        return _expression_fault(gold)
    if _is_number(gold):
        return None
    return "reads as no number. Write it in digits, drop the row, or set benchmark.kind=expression"


def _choice_fault(text: str, gold: str) -> str | None:
    offered = letters(text)
    if len(offered) > len(LETTERS):
        return (
            f"belongs to {len(offered)} options; no more than {len(LETTERS)} can be asked for. Drop the row"
        )
    if choice_in(gold, lowercase=False) in tuple(offered):
        return None
    return (
        f"is none of the letters {', '.join(offered)}. Write the right option's letter, and each option in a "
        "line of its own (B. ...), or name the columns of the wrong options with "
        "benchmark.source.columns.wrong_answers"
    )


def _is_number(gold: str) -> bool:
    form = read(gold.rpartition("=")[2])
    return form.shape == "based" or (form.value is not None and isinstance(real_value(form.value), Fraction))


def _expression_fault(gold: str) -> str | None:
    if _BLANK.fullmatch(gold):
        return "is a missing answer. Fix it, or drop the row"
    form = read(gold)
    if form.shape == "oversized":
        return "is too long, or too large a number, to be compared. Write the answer alone, or drop the row"
    if form.shape != "unread" or is_askable(form.source) or _SIGN.fullmatch(gold):
        return None
    braces = re.sub(r"\\[{}]", "", gold)
    if braces.count("{") != braces.count("}"):
        return "has braces that do not pair. Fix it, or drop the row"
    return "reads as no answer: no rule compares it. Write the value alone (docs/grading.md), or drop the row"
