"""Extraction of answers: the last box, or what the rules accept."""

import re
from itertools import pairwise

from icpo.grading.boxes import Box, find_boxes, mentions_box, tidy
from icpo.grading.choices import choice_in, choice_stated, names_several
from icpo.grading.equivalence import Equivalence
from icpo.grading.maths.forms import Answer
from icpo.grading.maths.reading import read
from icpo.grading.rules import GradingRules
from icpo.grading.statements import reads_as_answer, stated_answer
from icpo.grading.turns import without_reasoning
from icpo.grading.workers import Outcome
from icpo.types import AnswerKind

_MAX_LIST = 64  # boxes that are joined into one list
_MAX_COMPARED = 8  # of these boxes, if of different values
_MAX_GAP = 200
_MAX_ECHO = 200
_BETWEEN_BOXES = re.compile(
    r"(?:\s|[,;&$]|\\[,;:! ()\[\]]|\\q?quad|and|or|\\(?:text|mbox)\s*\{\s*,?\s*(?:and|or)\s*\}"
    r"|[A-Za-z](?:_\{?\w\}?)?\s*=)*"
)
_WRAPPED = re.compile(r"\\(?:text|mathrm|mbox|textbf)\s*\{([^{}]*)\}")
_ECHO = re.compile(
    r"<[^<>]*>|\\langle\s*(?:\\text\s*\{)?[A-Za-z ]{3,}\}?\s*\\rangle"
    r"|\\?ldots|\\?dots|\\cdots|[.…]+|(?:\\?_)+|\?+|\\(?:square|Box)"
)
_BLANK = re.compile(r"(?:\s|[~{}]|\\(?:[,;:!\s\\]|q?quad(?![A-Za-z])))*\\?")
_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def extract(text: str, kind: AnswerKind, rules: GradingRules) -> str | None:
    """The answer of a completion, as written; None is an abstention.

    Reasoning and further turns (`icpo.grading.turns`) are not read; a text that ends inside its first
    reasoning gives no answer. The last box counts, with or without backslash and braces; boxes joined by no
    more than commas, "and" or a label form a list. A box that echoes a placeholder is passed over; a text
    that ends inside a box gives no answer. Paper, Section "Response Generation and Self-Assessment" (the
    final `boxed{}` block).
    """
    spoken = without_reasoning(text)
    if spoken is None:
        return None
    boxes = [box for box in find_boxes(spoken) if box.content is None or not _is_echo(box.content, rules)]
    if boxes and boxes[-1].content is None:
        return None
    if kind is AnswerKind.CHOICE:
        return _extract_choice(spoken, boxes, rules)
    answer = _join(_last_boxes(spoken, boxes), rules) if boxes else _extract_unboxed(spoken, rules)
    if kind is AnswerKind.NUMBER and rules.plain_number_only and answer is not None:
        return answer if _PLAIN_NUMBER.fullmatch(answer) else None
    return answer


def _is_echo(content: str, rules: GradingRules) -> bool:
    if len(content) > _MAX_ECHO:
        return False
    bare = _WRAPPED.sub(r"\1", content).strip()
    is_empty = _BLANK.fullmatch(bare) or _ECHO.fullmatch(bare)
    return is_empty is not None or bare.casefold() in rules.placeholders


def _last_boxes(text: str, boxes: list[Box]) -> list[str]:
    """The contents of the last box and of the boxes joined to it."""
    first = len(boxes) - 1
    for before, after in pairwise(reversed(boxes[-_MAX_LIST:])):
        gap = text[after.end : before.start]
        if len(gap) > _MAX_GAP or not _BETWEEN_BOXES.fullmatch(gap):
            break
        first -= 1
    return [box.content for box in boxes[first:] if box.content is not None]


def _join(contents: list[str], rules: GradingRules) -> str:
    """The list of the contents, the first of those that the rules hold equal without math-verify."""
    by_value: dict[Answer, str] = {}
    for content in contents:
        by_value.setdefault(read(content), content)
    if not 1 < len(by_value) <= _MAX_COMPARED:
        return ", ".join(by_value.values())
    are_equal = Equivalence(rules, lambda left, right: Outcome.NOT_ASKED).verdict
    different: list[str] = []
    for content in by_value.values():
        if not any(are_equal(other, content).correct for other in different):
            different.append(content)
    return ", ".join(different)


def _extract_unboxed(text: str, rules: GradingRules) -> str | None:
    if rules.accept_marked_answer:
        is_stated, answer = stated_answer(text)
        if is_stated:
            return None if answer is None or mentions_box(answer) or _is_echo(answer, rules) else answer
    bare = tidy(text.strip().strip("*`").strip())
    if rules.accept_bare_answer and reads_as_answer(bare) and not _is_echo(bare, rules):
        return None if mentions_box(bare) else bare
    return None


def _extract_choice(text: str, boxes: list[Box], rules: GradingRules) -> str | None:
    lowercase = rules.accept_lowercase_choice
    if boxes:
        last = _last_boxes(text, boxes)
        letters = {choice_in(content, lowercase=lowercase) for content in last}
        if len(letters - {None}) > 1 or names_several(last[-1]):
            return None
        if letter := choice_in(last[-1], lowercase=lowercase):
            return letter
    if rules.accept_marked_answer and (stated := choice_stated(text, lowercase=lowercase)):
        return stated
    if boxes:
        older = (
            choice_in(box.content, lowercase=lowercase) for box in reversed(boxes) if box.content is not None
        )
        return next(filter(None, older), None)
    return choice_in(text, lowercase=lowercase) if rules.accept_bare_answer else None
