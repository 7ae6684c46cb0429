"""Grades of one question and seed: a line of scores.jsonl."""

from dataclasses import dataclass
from enum import Enum


class Outcome(str, Enum):
    """How one final sample ended; all but `correct` count as wrong."""

    CORRECT = "correct"
    WRONG = "wrong"
    UNPARSED = "unparsed"
    TRUNCATED = "truncated"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class GradedFinals:
    """Outcomes and answer classes of one set of final samples.

    A class is named by its representative (None: abstained). `num_skipped` counts the pairs of classes that
    the vote's budget left uncompared.
    """

    outcomes: tuple[Outcome, ...]
    labels: tuple[str | None, ...]
    num_skipped: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "outcomes", tuple(map(Outcome, self.outcomes)))
        object.__setattr__(self, "labels", tuple(self.labels))
        if not self.outcomes or len(self.outcomes) != len(self.labels):
            raise ValueError(
                f"finals need one label per outcome and at least one of each, "
                f"got {len(self.outcomes)} outcomes and {len(self.labels)} labels"
            )

    @property
    def num_correct(self) -> int:
        """How many of the final samples are correct."""
        return self.outcomes.count(Outcome.CORRECT)


@dataclass(frozen=True, slots=True)
class GradedRound:
    """Whether each candidate is right; None where it gave no answer."""

    correct: tuple[bool | None, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "correct", tuple(self.correct))


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The grades of one question under one seed.

    `finals` maps rounds done to the samples taken then.
    """

    question_id: str
    seed: int
    gold: str
    finals: tuple[tuple[int, GradedFinals], ...]
    rounds: tuple[GradedRound, ...] = ()

    def __post_init__(self) -> None:
        if not self.finals:
            raise ValueError(f"question {self.question_id} has no finals under seed {self.seed}")

    @property
    def key(self) -> tuple[str, int]:
        """What pairs this score with another cell's."""
        return self.question_id, self.seed

    @property
    def last(self) -> GradedFinals:
        """The final samples after the most rounds, which are scored."""
        return max(self.finals, key=lambda entry: entry[0])[1]
