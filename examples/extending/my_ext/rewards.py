"""Rewards every answer that enough candidates give, not the most frequent alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from icpo.types import Candidate, Question, Rewards, Votes


@dataclass(frozen=True, slots=True)
class Supported:
    """1 for candidates whose answer has at least `num_votes` votes, 0 for all others."""

    name: str
    tagged: bool
    num_votes: int

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """One tag per candidate; `votes.labels` holds the class of each one's answer, None for none."""
        supported = {answer for answer, count in votes.counts if count >= self.num_votes}
        return Rewards(tuple(int(label in supported) for label in votes.labels))
