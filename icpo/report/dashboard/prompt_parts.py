"""A round's prompt, cut into instructions, question and ideas."""

from collections.abc import Mapping, Sequence
from typing import Any

from icpo.errors import IcpoError
from icpo.prompts import Book
from icpo.types import History, Question, Round

Part = tuple[str, str]  # name of the part, its text


def book_of(job: Mapping[str, Any]) -> Book | None:
    """A cell's prompts by its stored settings, or None."""
    settings = job.get("prompts")
    if not isinstance(settings, Mapping):
        return None
    try:
        return Book(**{key: value for key, value in settings.items() if key != "_target_"})
    except (TypeError, ValueError, IcpoError):
        return None


def plain_parts(book: Book, question: Question) -> list[Part]:
    """The parts of the prompt without a word of ideas."""
    return _parts(book.plain(question).system, [("question", book.plain(question).user)])


def solve_parts(book: Book, question: Question, history: History) -> list[Part]:
    """The parts of a prompt with history, whole when joined.

    Bad ideas come before good ones, so a prompt with fewer kinds of ideas is the beginning of one with more:
    each part is what the next kind adds.
    """
    steps = [
        ("question", ()),
        ("bad ideas", tuple(a for a in history if a.reward == 0)),
        ("good ideas", tuple(a for a in history if a.reward in (0, 1))),
        ("ideas", history),
    ]
    parts, seen = [], ""
    for name, ideas in steps:
        user = book.solve(question, ideas).user.rstrip("\n")
        if book.reward_tags or name in ("question", "ideas"):
            parts.append((name, user.removeprefix(seen)))
            seen = user
    return _parts(book.solve(question, history).system, parts)


def history_of(rounds: Sequence[Round]) -> History:
    """The attempts that rounds kept, oldest first."""
    return tuple(round_.attempts[i] for round_ in rounds for i in round_.kept)


def _parts(system: str, parts: Sequence[Part]) -> list[Part]:
    return [(name, text) for name, text in (("instructions", system), *parts) if text.strip()]
