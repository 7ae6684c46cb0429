"""What a method does and returns; all values are frozen."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from math import log2
from typing import TypeAlias, TypeVar

from icpo.types.values import Attempt, Candidate, Completion, Question, SampleRequest, Votes


@dataclass(frozen=True, slots=True)
class Lookahead:
    """The answers sampled with one more attempt in the history.

    `attempt` is the attempt's index in the round. `num_dropped` counts the older attempts that did not fit
    into their prompt.
    """

    attempt: int
    votes: Votes
    candidates: tuple[Candidate, ...] = ()
    num_dropped: int = 0

    @property
    def entropy_bits(self) -> float:
        """Entropy of the answers plus a penalty for abstentions, in bits (docs/paper_notes.md).

        log2(m) times the share of abstentions is added, and 5 log2(m) is the value when all m abstain.
        """
        num_samples = self.votes.num_answered + self.votes.num_abstained
        if num_samples == 0:
            return 0.0
        if self.votes.num_answered == 0:
            return 5 * log2(max(num_samples, 2))
        return self.votes.entropy_bits + log2(num_samples) * self.votes.num_abstained / num_samples


@dataclass(frozen=True, slots=True)
class Rewards:
    """One reward per candidate (None: no tag), and the class rewarded."""

    tags: tuple[int | None, ...]
    winner: str | None = None
    num_tied: int = 0


@dataclass(frozen=True, slots=True)
class Selection:
    """Indices of the attempts kept, and the look-aheads that decided."""

    kept: tuple[int, ...]
    lookaheads: tuple[Lookahead, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did.

    `eligible[i]` is the candidate index of attempt i; `kept` holds indices of attempts. `num_dropped` counts
    attempts that did not fit into the candidates' prompt. An attempt too long to be shown even alone has no
    look-aheads, and a selector that compares them never keeps it.
    """

    candidates: tuple[Candidate, ...]
    votes: Votes
    rewards: Rewards
    eligible: tuple[int, ...]
    attempts: tuple[Attempt, ...]
    lookaheads: tuple[Lookahead, ...]
    kept: tuple[int, ...]
    num_dropped: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a search baseline, with its samples and value.

    `parent` is the step that it continues. `verdicts` are the model's own verdicts behind the value; None is
    one that could not be read.
    """

    name: str
    candidates: tuple[Candidate, ...]
    value: float | None = None
    parent: int | None = None
    verdicts: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What one question cost.

    A prompt is counted once per request, since its samples share one prefill.
    """

    num_requests: int = 0
    num_sequences: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    generated_tokens: int = 0
    generated_by_purpose: Mapping[str, int] = field(default_factory=dict)
    truncated_by_purpose: Mapping[str, int] = field(default_factory=dict)
    too_long_by_purpose: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Everything sampled for one question and seed.

    `finals` pairs rounds done with final samples. `usage_at_finals` has, for each set of final samples, the
    cost of a run that ends with it; `dropped_at_finals` how many attempts did not fit into its prompt (empty
    for methods without a history).
    """

    question: Question
    seed: int
    trace: tuple[Round | Step, ...]
    finals: tuple[tuple[int, tuple[Candidate, ...]], ...]
    usage: Usage = field(default_factory=Usage)
    usage_at_finals: tuple[Usage, ...] = ()
    dropped_at_finals: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        """Question id and seed: what pairs this result with its score."""
        return self.question.question_id, self.seed

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds of the trace, in order; other steps are left out."""
        return tuple(step for step in self.trace if isinstance(step, Round))


Batches = list[list[Completion]]
"""The completions of each request, in the requests' order."""
T = TypeVar("T")
Computation: TypeAlias = Generator[list[SampleRequest], Batches, T]
"""A generator that yields requests, receives their completions and returns a T."""
Solving = Computation[QuestionResult]
"""What a method's `solve` is."""
Selecting = Computation[Selection]
"""What a selector's `select` is."""
Looking = Computation[list[Lookahead]]
"""What asking for look-aheads is."""
