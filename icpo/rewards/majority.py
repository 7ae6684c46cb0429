"""Reward 1 for the majority class (paper, Algorithm 1, line 4)."""

from collections.abc import Sequence
from random import Random

from icpo.types import Candidate, Question, Rewards, Votes, validated


@validated
class Majority:
    """1 for candidates with the majority answer, 0 for all others.

    A tie is broken at random, by seed.
    """

    name: str = "majority"
    tagged: bool = True

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """Tags, rewarded class and number of tied classes; 0 if nobody answered."""
        winners = sorted(votes.winners)
        winner = Random(seed).choice(winners) if winners else None
        tags = tuple(int(label is not None and label == winner) for label in votes.labels)
        return Rewards(tags, winner, len(winners))
