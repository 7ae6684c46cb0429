"""Which letters a multiple choice offers."""

import re

LETTERS = "ABCDEFGHIJ"  # those that grading reads
FOUR = "ABCD"  # the paper's

_LABEL = re.compile(r"^\(?([A-Z])[.)]\s", re.MULTILINE)


def letters(text: str) -> str:
    """The letters of a question's options, each on its own line.

    Such as "A. ...", "B) ..." or "(C) ...". Options come last, so that it is the last A with a B after it
    that begins them; a label out of order is part of an option. "ABCD" where the text has no such lines.
    """
    labels = "".join(_LABEL.findall(text))
    start = len(labels)
    while (start := labels.rfind("A", 0, start)) >= 0:
        offered = _in_order(labels[start:])
        if len(offered) > 1:
            return offered
    return FOUR


def _in_order(labels: str) -> str:
    """A, B, C and so on, as far as they come in this order."""
    offered = ""
    for label in labels:
        if label == chr(ord("A") + len(offered)):
            offered += label
    return offered
