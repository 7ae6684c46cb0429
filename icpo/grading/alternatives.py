"""Several right answers to one question, kept as one text."""

from collections.abc import Sequence

SEPARATOR = " <or> "


def joined(golds: Sequence[str]) -> str:
    """The golds as one text; a single one as it is."""
    return SEPARATOR.join(golds)


def alternatives(gold: str) -> list[str]:
    """The golds in a text."""
    return gold.split(SEPARATOR)
