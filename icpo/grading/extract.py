"""Reads the answer out of a completion: the last complete box, or what the rules accept in its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from icpo.grading.choices import choice_in, choice_stated
from icpo.grading.maths.forms import Answer
from icpo.grading.maths.reading import read
from icpo.grading.rules import GradingRules
from icpo.types import AnswerKind

MAX_BARE_CHARACTERS = 200

_BOX = re.compile(
    r"box(?:ed)?(?![A-Za-z])\s*"
)  # begins with a literal, which re finds a hundred times faster
# What TeX reads after a \boxed without braces: a number, a fraction or another command with its arguments.
_UNBRACED = re.compile(
    r"[-+]?(?:\d[\d,]*(?:\.\d+)?|\\[dt]?frac\s*(?:\{[^{}]*\}|\d){2}|\\sqrt\s*(?:\{[^{}]*\}|\d))"
)
_BETWEEN_BOXES = re.compile(
    r"(?:\s|[,;&$]|\\[,;:! ()\[\]]|\\q?quad|and|or|\\(?:text|mbox)\s*\{\s*,?\s*(?:and|or)\s*\}"
    r"|[A-Za-z](?:_\{?\w\}?)?\s*=)*"
)
_ECHO = re.compile(
    r"<[^<>]*>|\\langle\s*(?:\\text\s*\{)?[A-Za-z ]{3,}\}?\s*\\rangle"
    r"|\\?ldots|\\?dots|\\cdots|\.+|_+|\?+|\\(?:square|Box)"
)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_MARKED = re.compile(r"(?:\banswer\b[\s*]*(?:is|:|=)|####)[\s*:]*(?P<answer>\S[^\n]*)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_PROSE = frozenset(
    ("the", "is", "are", "was", "be", "been", "it", "its", "this", "that", "these", "we", "you", "he", "she",
     "they", "so", "then", "thus", "hence", "therefore", "because", "since", "not", "know", "think", "answer",
     "find", "have", "has", "had", "can", "cannot", "could", "should", "would", "will", "let", "if", "when",
     "which", "what", "how", "there", "here", "from", "by", "with", "for", "to", "of", "as", "my", "our")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """One box of a text; `content` is None if the text ends inside it."""

    start: int
    end: int
    content: str | None


@dataclass(frozen=True, slots=True)
class _Mention:
    """The word that opens a box, with the spaces behind it."""

    start: int
    end: int
    has_backslash: bool


def extract(text: str, kind: AnswerKind, rules: GradingRules) -> str | None:
    """The answer that a completion gives, as it was written; None is an abstention.

    Reasoning before `</think>` is not read, and a text that ends inside its reasoning gives no answer. The
    last box counts, with or without backslash and braces; boxes joined by no more than commas, "and" or a
    label form a list. A box that echoes a placeholder is passed over; a text that ends inside a box gives no
    answer. Paper, Section "Response Generation and Self-Assessment" (the final `boxed{}` block).
    """
    spoken = _after_reasoning(text)
    if spoken is None:
        return None
    boxes = [box for box in find_boxes(spoken) if box.content is None or not _is_echo(box.content, rules)]
    if boxes and boxes[-1].content is None:
        return None
    if kind is AnswerKind.CHOICE:
        return _extract_choice(spoken, boxes, rules)
    answer = _last_list(spoken, boxes) if boxes else _extract_unboxed(spoken, rules)
    if kind is AnswerKind.NUMBER and rules.plain_number_only and answer is not None:
        return answer if _PLAIN_NUMBER.fullmatch(answer) else None
    return answer


def find_boxes(text: str) -> Iterator[Box]:
    """The boxes of a text in order, the innermost of nested ones; an unclosed one only if it is the last."""
    mentions = list(_mentions(text))
    closing = _closing_braces(text, mentions[0].start) if mentions else {}
    for i, mention in enumerate(mentions):
        is_last = i + 1 == len(mentions)
        if text.startswith("{", mention.end):
            end = closing.get(mention.end)
            if end is None and is_last:
                yield Box(mention.start, len(text), None)
            elif end is not None and (is_last or end <= mentions[i + 1].start):
                yield Box(mention.start, end, _tidy(text[mention.end + 1 : end - 1]))
        elif mention.has_backslash and (bare := _UNBRACED.match(text, mention.end)):
            yield Box(mention.start, bare.end(), _tidy(bare[0]))
        elif mention.has_backslash and is_last and mention.end == len(text):
            yield Box(mention.start, len(text), None)


def _mentions(text: str) -> Iterator[_Mention]:
    r"""Each boxed, fbox, \boxed, \fbox and \box that is a word of its own."""
    for match in _BOX.finditer(text):
        start = match.start()
        is_boxed = text.startswith("boxed", start)
        is_fbox = not is_boxed and start > 0 and text[start - 1] == "f"
        start -= is_fbox
        has_backslash = start > 0 and text[start - 1] == "\\"
        start -= has_backslash
        if (is_boxed or is_fbox or has_backslash) and not (start > 0 and text[start - 1].isalpha()):
            yield _Mention(start, match.end(), has_backslash)


def reads_as_answer(text: str) -> bool:
    """Whether a text without a box is itself an answer: a short line of at most three words, no prose."""
    words = [word.casefold() for word in _WORD.findall(text)]
    is_line = 0 < len(text.strip()) <= MAX_BARE_CHARACTERS and "\n" not in text.strip()
    return is_line and len(words) <= 3 and _PROSE.isdisjoint(words)


def _after_reasoning(text: str) -> str | None:
    _, closed, spoken = text.rpartition("</think>")
    if not closed and "<think>" in text:
        return None
    return spoken


def _closing_braces(text: str, start: int) -> dict[int, int]:
    """For each opening brace from `start` on, the index after the closing one; escaped ones do not count."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for match in _BRACE.finditer(text, start):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            closing[opened.pop()] = match.end()
    return closing


def _tidy(content: str) -> str:
    return content.strip().strip("$").strip()


def _is_echo(content: str, rules: GradingRules) -> bool:
    bare = re.sub(r"\\(?:text|mathrm|mbox|textbf)\s*\{([^{}]*)\}", r"\1", content).strip()
    return not bare or bare.casefold() in rules.placeholders or _ECHO.fullmatch(bare) is not None


def _last_list(text: str, boxes: list[Box]) -> str:
    """The last box with the boxes joined to it, each different value once."""
    first = len(boxes) - 1
    while first > 0 and _BETWEEN_BOXES.fullmatch(text, boxes[first - 1].end, boxes[first].start):
        first -= 1
    contents = [box.content for box in boxes[first:] if box.content is not None]
    if len(contents) == 1:
        return contents[0]
    by_value: dict[Answer, str] = {}
    for content in contents:
        by_value.setdefault(read(content), content)
    return ", ".join(by_value.values())


def _extract_unboxed(text: str, rules: GradingRules) -> str | None:
    if rules.accept_marked_answer and (marked := list(_MARKED.finditer(text))):
        line = marked[-1]["answer"]
        if end := _SENTENCE_END.search(line):
            line = line[: end.start()]
        answer = line.replace("**", "").strip().strip("$").removeprefix(r"\(").removesuffix(r"\)").strip()
        return answer if reads_as_answer(answer) and not _is_echo(answer, rules) else None
    answer = _tidy(text)
    if rules.accept_bare_answer and reads_as_answer(answer) and not _is_echo(answer, rules):
        return None if any(_mentions(answer)) else answer
    return None


def _extract_choice(text: str, boxes: list[Box], rules: GradingRules) -> str | None:
    lowercase = rules.accept_lowercase_choice
    boxed = [choice_in(box.content, lowercase=lowercase) for box in boxes if box.content is not None]
    if boxed and boxed[-1]:
        return boxed[-1]
    if rules.accept_marked_answer and (stated := choice_stated(text, lowercase=lowercase)):
        return stated
    if boxed:
        return next(filter(None, reversed(boxed)), None)
    return choice_in(text, lowercase=lowercase) if rules.accept_bare_answer else None
