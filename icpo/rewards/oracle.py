"""Reward 1 for right answers, by the gold answer.

Only this reward and the grader may know the golds.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from icpo.errors import ConfigError
from icpo.types import Candidate, Question, Rewards, Votes, validated

IsRight = Callable[[Question, str], bool]
Part = TypeVar("Part")


@validated
class Oracle:
    """1 for candidates whose answer is right, 0 for all others.

    Paper, Table "Ablation"; for reference only. `is_right` is given by the job, which holds the golds.
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


def has_oracle(part: object) -> bool:
    """Whether a method or reward must know which answers are right."""
    return with_oracle(part, lambda question, answer: False) is not part


def with_oracle(part: Part, is_right: IsRight) -> Part:
    """A method or reward with its oracle connected to the golds."""
    if isinstance(part, Oracle):
        return replace(part, is_right=is_right)
    parts = {name: getattr(part, name) for name in ("inner", "reward") if hasattr(part, name)}
    new = {name: made for name, old in parts.items() if (made := with_oracle(old, is_right)) is not old}
    return replace(part, **new) if new else part  # type: ignore[type-var]
