"""Reward 1 for right answers; with the grader the only code that may know the golds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from icpo.errors import ConfigError
from icpo.types import Candidate, Question, Rewards, Votes

IsRight = Callable[[Question, str], bool]


@dataclass(frozen=True, slots=True)
class Oracle:
    """1 for candidates whose answer is right, 0 for all others (paper, Table "Ablation", reference only).

    `is_right` is given by the job, which holds the golds.
    """

    name: str
    tagged: bool
    is_right: IsRight | None = None

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """The tags. Raises ConfigError where the benchmark has no golds."""
        if self.is_right is None:
            raise ConfigError(
                "reward=oracle needs gold answers, and this benchmark has none. Use reward=majority."
            )
        tags = [int(c.answer is not None and self.is_right(question, c.answer)) for c in candidates]
        return Rewards(tuple(tags))
