"""Multiple choice: which letter a box or an answer line names."""

import re

_MARKUP = re.compile(
    r"\\(?:text\w*|math\w+|mbox|rm|bf|boxed|fbox|left|right|displaystyle)(?![A-Za-z])|\\[,;:! ]|[${}*_]"
)
_LETTER = re.compile(r"(?:(?:option|choice|answer)\s*:?\s*)?[(\[]?\s*([A-J])\s*[)\]]?\s*[.:]?", re.IGNORECASE)
_LABEL = re.compile(r"(?:\(([A-J])\)|([A-J])(?:[):.]|\s+[-(]))\s*\S.*", re.DOTALL)
_STATED = re.compile(
    r"\b(?i:answer(?:\s+choice)?(?:\s+(?:is|should\s+be|must\s+be|would\s+be)|\s*[:=])"
    r"|(?:option|choice)(?:\s+is|\s*:))\s*:?\s*(?i:option\s+|choice\s+)?"
    r"(?:\(([A-Ja-j])\)|([A-J])(?![A-Za-z0-9'_^=]|-[A-Za-z]|\s*[=+*/<>\\])"
    r"(?!(?<=[AI])\s+(?!because|since|as\b)[a-z])|([a-j])(?=[.)]?\s*$))"
    r"|\b(?i:option|choice)\s+\(?([A-J])\)?\s+is\s+(?:the\s+)?(?:correct|right)\b",
    re.MULTILINE,
)


def choice_in(text: str, *, lowercase: bool) -> str | None:
    """The letter A to J that a box or a bare answer holds, alone or as the label of an option; None if none.

    A letter inside a word or a formula is no choice. A small letter counts only alone, and if `lowercase`.
    """
    plain = _plain(text)
    if match := _LETTER.fullmatch(plain):
        letter = match[1]
        return letter.upper() if lowercase or letter.isupper() else None
    if (label := _LABEL.fullmatch(plain)) and "\n" not in plain:
        return label[1] or label[2]
    return None


def choice_stated(text: str, *, lowercase: bool) -> str | None:
    """The letter of the last explicit answer line ("Answer: D", "the answer is (B)"); None if none.

    A small letter counts in brackets or at the end of a line, and if `lowercase`.
    """
    letters = ["".join(groups) for groups in _STATED.findall(_plain(text))]
    return next((letter.upper() for letter in reversed(letters) if lowercase or letter.isupper()), None)


def _plain(text: str) -> str:
    return _MARKUP.sub("", text).strip()
