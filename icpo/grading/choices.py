"""Multiple choice: which letter a box or an answer line names."""

import re

from icpo.grading.statements import MAX_BEFORE, is_doubted

MAX_CHARACTERS = 300  # of a box or bare answer
_MAX_CUES = 1000
_MAX_TAIL = 120  # characters behind the word "answer" in which its letter is looked for

_SIGNS = str.maketrans(
    {"：": ":", "–": "-", "—": "-", "−": "-", "“": "", "”": "", '"': "", "`": "", "’": "'"}
)
_MARKUP = re.compile(
    r"\\(?:text\w*|math\w+|bold\w+|bm|pmb|mbox|rm|bf|boxed|fbox|underline|emph|left|right|displaystyle)(?![A-Za-z])"
    r"|\\[,;:! ()\[\]]|[${}*_]|</answer>"
)
_QUOTED = re.compile(r"(?<![A-Za-z])'([^'\n]*)'(?![A-Za-z])")
_LETTER = re.compile(
    r"-?\s*(?:(?:option|choice|answer)\s*[:-]?\s*)?[(\[]{0,2}\s*([A-J])\s*[)\]]{0,2}\s*[.:,;]?", re.IGNORECASE
)
_LABEL = re.compile(r"(?:(?:option|choice)\s+)?(?:\(([A-J])\)|([A-J])\s*[):.])\s*(?P<text>\S.*)", re.DOTALL)
_LOOSE_LABEL = re.compile(r"([A-J])\s+[-(]\s*(?P<text>\S.*)", re.DOTALL)
_SEVERAL = re.compile(
    r"(?:\(?[A-Ja-j]\)?(?:\s*(?:,|;|&|/|\+|and|or)|[.:]\s*(?-i:[,;&/+]|(?:and|or)\b))\s*(?:and\s+|or\s+)?)+"
    r"\(?[A-Ja-j]\)?[.]?",
    re.IGNORECASE,
)
_APPROVED = re.compile(r"is\s+(?:the\s+)?(?:correct|right|best)\b", re.IGNORECASE)
# What makes a sentence about the option of "(A) is wrong", a name of "B. F. Skinner", a species of "E. coli".
_SPECIES = (
    r"(?:abortus|aegypti|albicans|anthracis|baumannii|botulinum|burgdorferi|cerevisiae|coli|diphtheriae|difficile"
    r"|discoideum|elegans|faecalis|faecium|fumigatus|gambiae|influenzae|jejuni|melanogaster|neoformans|perfringens"
    r"|pylori|rerio|sapiens|simulans|tetani|thaliana|trachomatis)\b"
)
_NOT_AN_OPTION = re.compile(
    r"(?:is|was|are|were|isn't|fails?|cannot|can|can't|does|doesn't|would|could|should|seems?|looks?|has|not|and|or|vs|to"
    r"|through)\b|[,&/=]|[A-Z](?:\.|\s*$|\s*[,&/=]|\s+(?:and|or)\b)|" + _SPECIES
)
_OF_SEVERAL = re.compile(r"(?:both|neither|all|none|only|either)\b", re.IGNORECASE)
_OTHER_LABEL = re.compile(r"\([A-J]\)")
# The label of a further option, behind a separator or number. "Vitamins C and D." has none.
_NEXT_LABEL = re.compile(
    r"(?:^|[,;&/)\d\\]|\b(?:and|or)\b)\s*(?:\([A-J]\)|(?<![A-Za-z])[A-J]\s*(?:\)|[:.](?=\s+(?!"
    + _SPECIES
    + r")\S)))"
)
_ASIDE = re.compile(
    r"\n|(?<![A-Z])[.!?]\s|\b(?:because|since|as|not|but|while|whereas|than|rather|instead)\b"
)
_PROSE = re.compile(r"(?!(?:sin|cos|tan|log|exp|max|min)\b)[A-Za-z][a-z]{2,}")

_CUE = re.compile(
    r"\b(?:answer|option|choice)\b|\b(?:choose|pick|select|go with)\b"
    r"|(?<!\S)####(?=\s*[(\[]{0,2}[A-J][)\].]{0,3}\s*\Z)",
    re.IGNORECASE,
)
_AFTER_ANSWER = re.compile(
    r"(?:\s+choice)?(?:\s+(?:to|for|of)\s+(?:this|the)\s+\w+)?\s*"
    r"(?:(?:is|(?:should|must|would|will|has\s+to)\s+be)\b|[:=>-]|$)\s*[:-]?\s*"
    r"(?:(?:most\s+)?(?:likely|probably)\s+)?(?:(?:option|choice|letter)\s+)?",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_OPTION = re.compile(r"\s*(?:is\b|:)\s*:?\s*", re.IGNORECASE)
_REFUSAL = re.compile(r"(?:\b(?:not|never|cannot)|n't)\s+$", re.IGNORECASE)  # before "choose"
_AFTER_VERB = re.compile(r"\s+(?:(?:option|choice|letter)\s+)?", re.IGNORECASE)
_APPROVED_OPTION = re.compile(r"\s+\(?([A-J])\)?\s+is\s+(?:the\s+)?(?:correct|right|best)\b")
_APPROVED_LETTER = re.compile(
    r"(?:^|[.!?:;]\s|\b(?i:so|thus|hence|therefore),?\s)[ \t]{0,8}"
    r"\(?([A-J])\)?\s+is\s+(?:the\s+)?(?:correct|right|best|answer)\b",
    re.MULTILINE,
)
_NAMED = re.compile(
    r"(?:\(([A-Ja-j])\)|\[{1,2}([A-J])\]|<([A-J])>|([A-J])(?!\s*\?)(?![A-Za-z0-9'_^=(]|-[A-Za-z0-9]|\s*[=+*/<>\\&]|\s+-\s|\.\s*[A-Z]\.|\.\s+"
    + _SPECIES
    + r")"
    r"(?!(?<=[AI])\s+(?!because|since|as\b)[a-z])|([a-j])(?=[.)]?\s*$))",
    re.MULTILINE,
)


def choice_in(text: str, *, lowercase: bool) -> str | None:
    """The letter A to J in a box or bare answer.

    Alone or as the label of an option; None if none. A letter inside a word or a formula is no choice. A
    small letter counts only alone, and if `lowercase`.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    plain = _plain(text)
    if match := _LETTER.fullmatch(plain):
        letter = match[1]
        return letter.upper() if lowercase or letter.isupper() else None
    if "\n" in plain:
        return None
    if label := _LABEL.fullmatch(plain):
        return (label[1] or label[2]) if _is_option(label) else None
    if (label := _LOOSE_LABEL.fullmatch(plain)) and _PROSE.match(label["text"]) and "=" not in label["text"]:
        return label[1] if _is_option(label) else None
    return None


def names_several(text: str) -> bool:
    """Whether a box or a bare answer names several letters, alone or each with its option."""
    if len(text) > MAX_CHARACTERS:
        return False
    plain = _plain(text)
    return _SEVERAL.fullmatch(plain) is not None or _lists_options(plain)


def choice_stated(text: str, *, lowercase: bool) -> str | None:
    """The letter of the last explicit answer line, or None.

    Such as "Answer: D" or "the answer is (B)". A small letter counts in brackets or at the end of a line, and
    if `lowercase`. If the last line names two letters, there is none.
    """
    plain = _plain(text)
    statements = [(match.start(1), match[1]) for match in _APPROVED_LETTER.finditer(plain)]
    for cue in list(_CUE.finditer(plain))[-_MAX_CUES:]:
        before = plain[max(cue.start() - MAX_BEFORE, 0) : cue.start()]
        tail = plain[cue.end() : cue.end() + _MAX_TAIL]
        if is_doubted(before) or _REFUSAL.search(before):
            continue
        if letter := _stated_in(cue[0].casefold(), tail):
            statements.append((cue.end(), letter))
    for _, letter in sorted(statements, reverse=True):
        if lowercase or letter.isupper() or letter == _TWO:
            return None if letter == _TWO else letter.upper()
    return None


_TWO = "two"


def _stated_in(cue: str, tail: str) -> str | None:
    """The letter that the text behind a cue names; `_TWO` if it names several."""
    if cue in ("option", "choice") and (approved := _APPROVED_OPTION.match(tail)):
        return approved[1]
    pattern = {"answer": _AFTER_ANSWER, "option": _AFTER_OPTION, "choice": _AFTER_OPTION}.get(
        cue, _AFTER_VERB
    )
    link = pattern.match(tail)
    if link is None:
        return None
    named = _NAMED.match(tail, link.end())
    several = _SEVERAL.match(tail, link.end())
    if several is not None and not tail[several.end() : several.end() + 1].isalnum():
        return _TWO
    if named and _lists_options(tail[named.start() :]):
        return _TWO
    return next(filter(None, named.groups()), None) if named else None


def _lists_options(text: str) -> bool:
    """Whether a text is several options with their labels: "A: 3, B: 4"; not "D) both (A) and (B)"."""
    label = _LABEL.match(text)
    if label is None or _names_earlier(label) or _OF_SEVERAL.match(label["text"]):
        return False
    rest = _ASIDE.split(label["text"], maxsplit=1)[0]
    return any(
        rest.count("(", 0, found.start()) == rest.count(")", 0, found.start())
        for found in _NEXT_LABEL.finditer(rest)
    )


def _names_earlier(label: re.Match[str]) -> bool:
    """Whether the text of an option is the letters of options before it: "D) A and B"."""
    several = _SEVERAL.match(label["text"])
    if several is None or label["text"][several.end() : several.end() + 1].isalnum():
        return False
    letter = next(filter(None, label.groups()))
    return all(other < letter for other in re.findall(r"\b[A-Ja-j]\b", several[0]))


def _is_option(label: re.Match[str]) -> bool:
    """Whether the text behind a label is that of an option, not a sentence about it or the rest of a name."""
    text = label["text"]
    if _APPROVED.match(text) or _names_earlier(label):
        return True
    if _lists_options(label[0]):
        return False
    return not _NOT_AN_OPTION.match(text) and (
        _OF_SEVERAL.match(text) is not None or not _OTHER_LABEL.search(text)
    )


def _plain(text: str) -> str:
    return _QUOTED.sub(r"\1", _MARKUP.sub("", text.translate(_SIGNS))).strip()
