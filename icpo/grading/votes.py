"""Answers to equivalence classes: one partition for votes, rewards, entropy and metrics."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from icpo.types import Votes


@dataclass(frozen=True, slots=True)
class _Class:
    """Answers of one value: how many gave it, its representative, and the different texts that were given."""

    count: int
    representative: str
    texts: tuple[str, ...]

    @property
    def order(self) -> tuple[int, int, str]:
        """Most frequent first; ties by length and spelling of the representative."""
        return -self.count, len(self.representative), self.representative


def tally(
    answers: Sequence[str | None],
    value_of: Callable[[str], Hashable],
    representative_of: Callable[[str], str],
    are_equal: Callable[[str, str], bool],
) -> Votes:
    """The votes of some answers; None and blank answers abstain.

    Answers of one value form a class. Two classes are joined if each answer of one equals each of the other;
    larger classes choose first. So the answers of a class are equal in pairs although `are_equal` is not
    transitive ("5 cm", "5" and "5 m" are not one class), and the order of the answers does not matter. The
    most frequent value represents a class; where an earlier class has taken its name, one of its texts does.
    """
    given = [answer.strip() if answer else "" for answer in answers]
    joined: list[list[_Class]] = []
    for one in sorted(_classes(given, value_of, representative_of), key=lambda one: one.order):
        home = next((group for group in joined if _all_equal(group, one, are_equal)), None)
        if home is None:
            joined.append([one])
        else:
            home.append(one)
    merged = [
        _Class(sum(c.count for c in g), g[0].representative, tuple(t for c in g for t in c.texts))
        for g in joined
    ]
    ordered = _named_apart(sorted(merged, key=lambda one: one.order))
    labels = {text: one.representative for one in ordered for text in one.texts}
    return Votes(
        counts=tuple((one.representative, one.count) for one in ordered),
        num_abstained=given.count(""),
        labels=tuple(labels.get(text) for text in given),
    )


def _classes(
    given: Sequence[str], value_of: Callable[[str], Hashable], representative_of: Callable[[str], str]
) -> list[_Class]:
    counts = Counter(filter(None, given))
    texts: dict[Hashable, list[str]] = {}
    for text in counts:
        texts.setdefault(value_of(text), []).append(text)
    return [
        _Class(
            sum(counts[text] for text in same),
            min(map(representative_of, same), key=lambda text: (len(text), text)),
            tuple(sorted(same)),
        )
        for same in texts.values()
    ]


def _named_apart(classes: Sequence[_Class]) -> list[_Class]:
    """The classes with names of their own: a label stands for one class, whatever normal forms look alike."""
    taken: set[str] = set()
    named = []
    for one in classes:
        numbered = (f"{one.representative} ({i})" for i in count(2))
        name = next(n for n in chain((one.representative,), one.texts, numbered) if n not in taken)
        taken.add(name)
        named.append(replace(one, representative=name))
    return named


def _all_equal(group: Sequence[_Class], one: _Class, are_equal: Callable[[str, str], bool]) -> bool:
    return all(are_equal(a, b) for other in group for a in other.texts for b in one.texts)
