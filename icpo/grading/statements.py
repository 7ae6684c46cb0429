"""Answers stated without a box, such as "Answer: 5"."""

import re
from collections.abc import Iterator

from icpo.grading.maths.reading import read

MAX_BARE_CHARACTERS = 200
MAX_BEFORE = 80  # characters in front of a cue in which a denial is looked for
_MAX_CUES = 40
_MAX_TAIL = 400  # characters behind a cue in which its answer is looked for

_CUE = re.compile(r"\banswer\b|(?<!\S)####", re.IGNORECASE)
_LINK = re.compile(
    r"[\s*_`]{0,8}(?:(?:to|of|for|in)\s+(?:this|the|our|that)\s+\w+(?:\s+\w+)?\s+)?"
    r"(?:(?:is|are|equals|be|becomes)\b|(?:must|should|will|would|has\s+to|turns\s+out\s+to|comes\s+out\s+to)\s+be\b|[:：=]|-(?=\s))"
    r"(?:[\s*_`:：]|(?:equal\s+to|therefore|then|thus|simply|just|exactly|(?:most\s+)?likely|probably|given\s+by|as\s+follows)\b){0,12}",
    re.IGNORECASE,
)  # fmt: skip
_HEADING = re.compile(r"[\s*_`:]{0,8}\n[\s*_`]{0,8}")
_REFUSED = re.compile(r"(?:not|n't|never|no longer|unknown|unclear|cannot)\b", re.IGNORECASE)
_DOUBTED = re.compile(
    r"(?:\b(?:wrong|incorrect|mistaken|invalid|naive|tempting)(?:\s+final)?"
    r"|(?:\b(?:whether|if|doubt|suppos(?:e|ing)|assum(?:e|ing)|imagine|pretend)"
    r"|(?:\b(?:not|never|cannot)|n['’]t)\s+(?:think|believe|know|say|mean|agree|conclude|sure|certain|true|clear|possible)"
    r"(?:\s+(?:if|whether))?|\b(?:false|untrue|impossible|unlikely|wrong|incorrect))(?:\s+that)?"
    r"\s+(?:the|my|our|your|its|this)(?:\s+(?:final|correct|right|true|actual))?)\s+$",
    re.IGNORECASE,
)  # fmt: skip
_TAGGED = re.compile(r">\s*((?:[^<]|<(?!/))*?)\s*</answer>", re.IGNORECASE)
_COMMENT = re.compile(
    r"(?:(?:\w+ly|very|quite|indeed|also)\s+)?(?:(?:in)?correct|right|wrong|clear|obvious|unique|valid|reasonable"
    r"|below|above|here|given|found|shown|known|final|it)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"[.!?](?:\s|$)|\s(?:because|since)\b|,\s+(?:not|which|since|because|so|where|as)\b"
)
_IN_DOLLARS = re.compile(r"(?:\$([^$]+)\$|\\\((.+?)\\\))(?:[^\w$]|\s)")
# A formula whose delimiters stand on several lines.
_DISPLAYED = re.compile(
    r"(?:\$\$(.+?)\$\$|\$\n(.+?)\$|\\\[(.+?)(?<!\\)\\\]|\\\((.+?)(?<!\\)\\\)|```\w*\n(.+?)```"
    r"|\\begin\{(?:align|equation|gather)\*?\}(.+?)\\end\{)",
    re.DOTALL,
)
_MARKER = r"(?:[-*•]\s+|%s[.)]\s+(?=[-+\d$\\(*_`]))"  # of an item of a list
_FIRST_ITEM = re.compile(rf"\s*{_MARKER % 1}(?=\S)")
_NEXT_ITEM = re.compile(rf"[^\n]*\s*\n\s*{_MARKER % 2}")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_PROSE = frozenset(
    ("the", "is", "are", "was", "be", "been", "it", "its", "this", "that", "these", "we", "you", "he", "she",
     "they", "so", "then", "thus", "hence", "therefore", "because", "since", "not", "know", "think", "answer",
     "find", "have", "has", "had", "can", "cannot", "could", "should", "would", "will", "let", "if", "when",
     "which", "what", "how", "there", "here", "from", "by", "with", "for", "to", "of", "as", "my", "our")
)  # fmt: skip
_TITLE = re.compile(r"\b[A-Z][a-z]{2,}")


def stated_answer(text: str) -> tuple[bool, str | None]:
    """Whether a text states an answer, and the last one stated.

    It is None if the last statement holds no answer. Statements that comment ("this answer is correct"), deny
    ("the answer is not 5") or doubt ("if the answer is 5") are passed over.
    """
    cues = list(_CUE.finditer(text))
    for cue in reversed(cues[-_MAX_CUES:]):
        before = text[max(cue.start() - MAX_BEFORE, 0) : cue.start()]
        tail = text[cue.end() : cue.end() + _MAX_TAIL]
        for is_statement, content in _read_tail(cue[0], before, tail):
            if is_statement:
                return True, content
    return False, None


def is_doubted(before: str) -> bool:
    """Whether the text before the word "answer" denies or doubts it."""
    return _DOUBTED.search(before) is not None


def reads_as_answer(text: str) -> bool:
    """Whether a text without a box is itself an answer."""
    stripped = text.strip()
    words = [word.casefold() for word in _WORD.findall(stripped[: MAX_BARE_CHARACTERS + 1])]
    is_line = 0 < len(stripped) <= MAX_BARE_CHARACTERS and "\n" not in stripped
    is_value = any(map(str.isalnum, stripped)) or any(sign in stripped for sign in "∞∅\\")
    return is_line and is_value and stripped[0] != "#" and len(words) <= 3 and _PROSE.isdisjoint(words)


def _read_tail(cue: str, before: str, tail: str) -> Iterator[tuple[bool, str | None]]:
    if "####" in cue:
        line = tail.partition("\n")[0].strip().strip("*").strip()
        yield _is_heading_answer(line), line
        return
    if link := _LINK.match(tail):
        start, end = link.end(), len(tail)
    elif _opens_heading(before) and (heading := _HEADING.match(tail)):
        start, end = heading.end(), len(tail)
    elif before.endswith("<") and (tagged := _TAGGED.match(tail)):
        start, end = tagged.span(1)
    else:
        return
    content = tail[start:end]
    if (item := _FIRST_ITEM.match(content)) and "\n" in tail[: start + item.end()]:
        content = "" if _NEXT_ITEM.match(content, item.end()) else content[item.end() :]
    answer = _answer_of(content)
    is_denied = is_doubted(before) or _REFUSED.match(content)
    is_passed_over = is_denied or _COMMENT.fullmatch(answer) or _is_asked(content)
    yield not is_passed_over, answer if reads_as_answer(answer) else None


def _opens_heading(before: str) -> bool:
    """Whether the word "answer" behind this begins a heading: "Final answer", "## Answer"."""
    return before.casefold().rstrip().endswith("final") or before.rpartition("\n")[2].strip().startswith("#")


def _is_asked(content: str) -> bool:
    """Whether the first sentence is a question: "the answer is 5? No"."""
    end = _SENTENCE_END.search(content.strip().partition("\n")[0])
    return end is not None and end[0].startswith("?")


def _answer_of(content: str) -> str:
    """The answer at the beginning of a statement, without what follows it and without wrappers."""
    content = content.strip()
    if (displayed := _DISPLAYED.match(content)) and "\n" in displayed[0]:
        return " ".join(displayed[displayed.lastindex or 0].split()).rstrip(" .,")
    line = content.partition("\n")[0]
    if (dollars := _IN_DOLLARS.match(f"{line} ")) and not reads_as_answer(line):
        return (dollars[1] or dollars[2]).strip()
    if end := _SENTENCE_END.search(line):
        line = line[: end.start()]
    line = line.replace("**", "").strip(" \t*_`\"'")
    if line.count("$") != 2 or line[0] == line[-1]:
        line = line.strip("$")
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        line = line.removeprefix(opening).removesuffix(closing)
    return line.strip()


def _is_heading_answer(line: str) -> bool:
    """Whether what follows #### is an answer and not a heading: a value, without a capitalised word."""
    return (
        reads_as_answer(line)
        and not _TITLE.search(line)
        and read(line).shape not in ("words", "unread", "oversized")
    )
