"""Answers to equivalence classes: one partition for votes, rewards, entropy and metrics."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, count, product
from typing import Protocol

from icpo.types import Votes


class Relation(Protocol):
    """What a vote asks about answers, given as text."""

    def value_of(self, answer: str) -> Hashable:
        """The value; answers of equal values are equal."""

    def surface_of(self, answer: str) -> Hashable:
        """What rules see of an answer beyond its value."""

    def representative_of(self, answer: str) -> str:
        """One text for all answers of a value."""

    def keys_of(self, answer: str) -> frozenset[Hashable] | None:
        """Keys: answers that may be equal share one; None matches all."""

    def are_equal(self, one: str, other: str) -> bool | None:
        """Whether two answers are equal; None: only math-verify can decide."""

    def are_equal_at_any_cost(self, one: str, other: str) -> bool | None:
        """Whether two answers are equal; None if a limit was exceeded."""


@dataclass(frozen=True, slots=True)
class _Class:
    """Answers of one value: count, representative, different texts, and one text for each surface."""

    count: int
    representative: str
    texts: tuple[str, ...]
    speakers: tuple[str, ...]

    @property
    def order(self) -> tuple[int, int, str]:
        """Most frequent first; ties by length and spelling of the representative."""
        return -self.count, len(self.representative), self.representative


def tally(answers: Sequence[str | None], relation: Relation, budget: int) -> Votes:
    """The votes of some answers; None and blank answers abstain.

    Answers of one value form a class. Two classes are joined if each answer of one equals each of the other;
    larger classes choose first. So the answers of a class are equal in pairs although the relation is not
    transitive ("5 cm", "5" and "5 m" are not one class), and the order of the answers does not matter. The
    most frequent value represents a class; where an earlier class has taken its name, one of its texts does.
    At most `budget` pairs are compared at any cost, the most frequent first; those beyond count as different.
    """
    given = [answer.strip() if answer else "" for answer in answers]
    classes = sorted(_classes(given, relation), key=lambda one: one.order)
    equal, num_skipped = _equal_pairs(classes, relation, budget)
    groups: list[list[int]] = []
    for i in range(len(classes)):
        home = next((group for group in groups if all((j, i) in equal for j in group)), None)
        if home is None:
            groups.append([i])
        else:
            home.append(i)
    merged = [_merge([classes[i] for i in group]) for group in groups]
    ordered = _named_apart(sorted(merged, key=lambda one: one.order))
    labels = {text: one.representative for one in ordered for text in one.texts}
    return Votes(
        counts=tuple((one.representative, one.count) for one in ordered),
        num_abstained=given.count(""),
        labels=tuple(labels.get(text) for text in given),
        num_skipped=num_skipped,
    )


def _classes(given: Sequence[str], relation: Relation) -> list[_Class]:
    counts = Counter(filter(None, given))
    texts: dict[Hashable, list[str]] = {}
    for text in counts:
        texts.setdefault(relation.value_of(text), []).append(text)
    return [
        _Class(
            sum(counts[text] for text in same),
            min(map(relation.representative_of, same), key=lambda text: (len(text), text)),
            tuple(sorted(same)),
            tuple({relation.surface_of(text): text for text in sorted(same)}.values()),
        )
        for same in texts.values()
    ]


def _equal_pairs(
    classes: Sequence[_Class], relation: Relation, budget: int
) -> tuple[set[tuple[int, int]], int]:
    """The pairs of equal classes, and how many pairs were not compared."""
    equal: set[tuple[int, int]] = set()
    exceeded: set[int] = set()  # classes that exceeded a limit once: they are not tried again
    num_asked = num_skipped = 0
    for i, j in _candidates(classes, relation):
        pairs = list(product(classes[i].speakers, classes[j].speakers))
        is_equal = _all(relation.are_equal(*pair) for pair in pairs)
        if is_equal is None and (num_asked == budget or not exceeded.isdisjoint((i, j))):
            num_skipped += 1
        elif is_equal is None:
            num_asked += 1
            is_equal = _all(relation.are_equal_at_any_cost(*pair) for pair in pairs)
            exceeded.update((i, j) if is_equal is None else ())
        if is_equal:
            equal.add((i, j))
    return equal, num_skipped


def _all(verdicts: Iterator[bool | None]) -> bool | None:
    """False if one is, else None if one is not known, else True."""
    known = True
    for verdict in verdicts:
        if verdict is False:
            return False
        known &= verdict is not None
    return True if known else None


def _candidates(classes: Sequence[_Class], relation: Relation) -> Iterator[tuple[int, int]]:
    """The pairs that may be equal: those that share a key, then those of unknown keys; most votes first."""
    if len(classes) < 2:
        return iter(())
    sharing: defaultdict[Hashable, list[int]] = defaultdict(list)
    unknown: list[int] = []
    for i, one in enumerate(classes):
        keys = [relation.keys_of(text) for text in one.speakers]
        if None in keys:
            unknown.append(i)
        for key in {key for some in keys for key in some or ()}:
            sharing[key].append(i)
    likely = {pair for sharers in sharing.values() for pair in combinations(sharers, 2)}
    others = {(min(i, j), max(i, j)) for i in unknown for j in range(len(classes)) if i != j}

    def votes(pair: tuple[int, int]) -> tuple[int, int, int]:
        return -classes[pair[0]].count * classes[pair[1]].count, *pair

    return chain(sorted(likely, key=votes), sorted(others - likely, key=votes))


def _merge(group: Sequence[_Class]) -> _Class:
    texts = tuple(text for one in group for text in one.texts)
    return _Class(sum(one.count for one in group), group[0].representative, texts, ())


def _named_apart(classes: Sequence[_Class]) -> list[_Class]:
    """The classes with names of their own: a label belongs to one class, even if normal forms look alike."""
    taken: set[str] = set()
    named = []
    for one in classes:
        numbered = (f"{one.representative} ({i})" for i in count(2))
        name = next(n for n in chain((one.representative,), one.texts, numbered) if n not in taken)
        taken.add(name)
        named.append(replace(one, representative=name))
    return named
