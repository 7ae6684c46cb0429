"""The words of the word problems, to recognise other questions."""

import re
from functools import cache

from icpo.benchmarks.arithmetic.splits import HELDOUT_SETS, LEVELS, questions

WORD = re.compile(r"[^\W\d_]+")
EXAMPLE = "Ben has 135 marbles. Ben buys 20 more. How many marbles does Ben have now?"


def unknown_words(text: str) -> list[str]:
    """The words of a text that no word problem has."""
    return [word for word in dict.fromkeys(WORD.findall(text)) if word.lower() not in _vocabulary()]


@cache
def _vocabulary() -> frozenset[str]:
    texts = (one.text for name in (*LEVELS, *HELDOUT_SETS) for one in questions("test", name))
    return frozenset(word.lower() for text in texts for word in WORD.findall(text))
