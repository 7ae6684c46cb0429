"""No rewards at all."""

from collections.abc import Sequence

from icpo.types import Candidate, Question, Rewards, Votes, validated


@validated
class NoReward:
    """No tag for any candidate (paper, Table "Ablation", without reward)."""

    name: str
    tagged: bool

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """None for each candidate."""
        return Rewards((None,) * len(candidates))
