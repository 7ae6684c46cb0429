"""Rewards that are wrong on purpose, as controls."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Literal

from icpo.seeding import derive_seed
from icpo.types import Candidate, Question, Rewards, RewardSource, Votes, validated


@validated
class Shuffled:
    """The tags of another source, shuffled over the candidates that answered."""

    name: str
    tagged: bool
    inner: RewardSource

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """The inner source's tags in a seeded random order.

        Who abstained keeps the inner source's tag: dealt a 1 that is never shown, the ideas would have fewer.
        """
        given = self.inner.rewards(question, candidates, votes, seed=seed)
        dealt = [tag for c, tag in zip(candidates, given.tags, strict=True) if c.answer is not None]
        Random(derive_seed(seed, "shuffled")).shuffle(dealt)
        left = iter(dealt)
        tags = (
            tag if c.answer is None else next(left) for c, tag in zip(candidates, given.tags, strict=True)
        )
        return replace(given, tags=tuple(tags))


@validated
class Inverted:
    """The tags of another source with 0 and 1 exchanged."""

    name: str
    tagged: bool
    inner: RewardSource

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """One minus each tag; no tag stays no tag."""
        given = self.inner.rewards(question, candidates, votes, seed=seed)
        return replace(given, tags=tuple(None if tag is None else 1 - tag for tag in given.tags))


@validated
class Constant:
    """The same tag for all."""

    name: str
    tagged: bool
    value: Literal[0, 1]

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """`value` for each candidate."""
        return Rewards((self.value,) * len(candidates))
