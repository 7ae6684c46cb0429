"""Answers in words: numbers, sets with a name, phrases."""

import re
from collections.abc import Sequence

from icpo.grading.maths import algebra
from icpo.grading.maths.forms import Answer
from icpo.grading.maths.intervals import REALS
from icpo.grading.maths.numerals import read_numeral
from icpo.grading.maths.quantities import read_quantity
from icpo.grading.maths.sets import EMPTY_SET, NEGATIVE, POSITIVE
from icpo.grading.maths.tokens import Token, UnreadableError, is_short_word

_PHRASES = {
    **dict.fromkeys(("all real numbers", "all reals", "real numbers", "all real values"), REALS),
    **dict.fromkeys(
        ("no solution", "no solutions", "no real solutions", "no real solution", "empty set"), EMPTY_SET
    ),
    **dict.fromkeys(("positive real numbers", "all positive real numbers", "positive reals"), POSITIVE),
    **dict.fromkeys(("negative real numbers", "all negative real numbers", "negative reals"), NEGATIVE),
    "dne": Answer("words", "does not exist"),
}
_ARTICLE = re.compile(r"(?:an?|the)\s+(?=\w\w)", re.IGNORECASE)
_OPTION = re.compile(r"(?:option|choice|answer)\s+(\(?[a-j]\)?)")


def read_words(tokens: Sequence[Token]) -> Answer:
    """A number, a named set, or the phrase itself."""
    phrase = " ".join(" ".join(token.text for token in tokens).split()).strip(" .,:;!?'\"")
    if any(map(str.isdigit, phrase)):
        raise UnreadableError("digits among words")
    if option := _OPTION.fullmatch(phrase.casefold()):
        return Answer("words", option[1].upper())
    phrase = _ARTICLE.sub("", phrase, count=1) if _ARTICLE.match(phrase) else phrase
    lower = phrase.casefold()
    counted = _read_counted(lower.replace("-", " ").split())
    return counted or _PHRASES.get(lower) or Answer("words", phrase if is_spelling(phrase) else lower)


def _read_counted(words: Sequence[str]) -> Answer | None:
    """A number in words, alone or with its unit (two thirds, ten dollars); None if it is no such thing."""
    if (numeral := read_numeral(words)) is None:
        return None
    value, num_read = numeral
    if num_read == len(words):
        return Answer("scalar", value=algebra.number(value))
    try:
        return read_quantity([Token("number", str(value)), Token("words", " ".join(words[num_read:]))])
    except (UnreadableError, ValueError):
        return None


def is_spelling(phrase: str) -> bool:
    """Whether capitals count, as in Aa or HTh."""
    if len(phrase) > 3 or not phrase.isalpha() or is_short_word(phrase):
        return False
    return len(phrase) < 3 or phrase not in (phrase.lower(), phrase.upper(), phrase.title())
