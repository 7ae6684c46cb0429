"""The values that flow through a cell; all are frozen."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import log2
from typing import Annotated, TypeAlias, TypeVar

from pydantic import Field, NonNegativeInt, PositiveInt

from icpo.types.validated import validated


class AnswerKind(str, Enum):
    """What an answer looks like.

    It decides prompts, extraction and equivalence.
    """

    NUMBER = "number"
    CHOICE = "choice"
    EXPRESSION = "expression"


class Purpose(str, Enum):
    """What a sample is for; seeds and costs are kept per purpose."""

    CANDIDATE = "candidate"
    SUMMARY = "summary"
    LOOKAHEAD = "lookahead"
    FINAL = "final"
    THOUGHT = "thought"
    VALUE = "value"
    CRITIQUE = "critique"
    REFINE = "refine"


class FinishReason(str, Enum):
    """Why a completion ended."""

    STOP = "stop"
    LENGTH = "length"
    PROMPT_TOO_LONG = "prompt_too_long"
    CONTENT_FILTER = "content_filter"


@dataclass(frozen=True, slots=True)
class Question:
    """One question, without its gold answer.

    Only the oracle reward and the grader hold the golds.
    """

    question_id: str
    text: str
    kind: AnswerKind


@validated
class Sampling:
    """How completions of one purpose are sampled.

    `min_room_tokens` is the room a prompt must leave in the backbone's context: a prompt that leaves less is
    answered with `prompt_too_long`, one that leaves less than `max_tokens` is answered with what room there
    is. A `temperature` or `top_p` of None is left to the server; engines in this process take 1. A `top_k` or
    `min_p` of None does not restrict.
    """

    temperature: Annotated[float, Field(ge=0, le=2)] | None
    top_p: Annotated[float, Field(gt=0, le=1)] | None
    max_tokens: PositiveInt
    min_tokens: NonNegativeInt
    repetition_penalty: Annotated[float, Field(gt=0, le=2)]
    stop: tuple[Annotated[str, Field(min_length=1)], ...]
    min_room_tokens: PositiveInt
    top_k: PositiveInt | None
    min_p: Annotated[float, Field(ge=0, le=1)] | None

    def __post_init__(self) -> None:
        for name in ("min_tokens", "min_room_tokens"):
            if getattr(self, name) > self.max_tokens:
                raise ValueError(
                    f"{name} must be at most max_tokens={self.max_tokens}, got {getattr(self, name)}"
                )

    def limited(self, max_tokens: int) -> "Sampling":
        """The same for at most so many tokens; what may not exceed them is lowered with them."""
        limit = min(max_tokens, self.max_tokens)
        lowered = {name: min(getattr(self, name), limit) for name in ("min_tokens", "min_room_tokens")}
        return replace(self, max_tokens=limit, **lowered)

    @property
    def is_greedy(self) -> bool:
        """Whether all samples are equal."""
        return self.temperature == 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system and a user text to send.

    The engine applies the backbone's chat template, or joins the two raw. Half a character (a lone
    surrogate), which no tokenizer and no server takes, becomes U+FFFD.
    """

    system: str
    user: str

    def __post_init__(self) -> None:
        for name in ("system", "user"):
            halves = getattr(self, name).encode("utf-16-le", "surrogatepass")
            object.__setattr__(self, name, halves.decode("utf-16-le", "replace"))

    @property
    def raw(self) -> str:
        """System and user text as a base model sees them."""
        return f"{self.system}\n\n{self.user}" if self.system else self.user


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """A request for `num_samples` completions of one prompt.

    Sample i of an engine that seeds by sample uses seed + i. With `scored` nothing is sampled: completion i
    is `scored[i]` with its log-probability after the prompt and `score_after`, the words that the model has
    written by then.
    """

    purpose: Purpose
    prompt: Prompt
    sampling: Sampling
    num_samples: int
    seed: int
    scored: tuple[str, ...] = ()
    score_after: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """One completion of a prompt.

    `draw` is its place in the journal, set when it is journalled. `log_probability`, in nats, is of a text
    that was scored.
    """

    text: str
    num_prompt_tokens: int
    num_completion_tokens: int
    finish_reason: FinishReason
    num_cached_tokens: int = 0
    draw: str = ""
    log_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A completion with the answer read from it; None is an abstention."""

    completion: Completion
    answer: str | None


@dataclass(frozen=True, slots=True)
class Votes:
    """Answer counts by equivalence class, most frequent first; abstentions are counted apart.

    `labels` holds, in the order the answers were given, the representative of each answer's class (None for
    an abstention). `num_skipped` counts the pairs of classes beyond the budget of the vote, held different.
    """

    counts: tuple[tuple[str, int], ...]
    num_abstained: int
    labels: tuple[str | None, ...] = ()
    num_skipped: int = 0

    @property
    def num_answered(self) -> int:
        """How many gave an answer."""
        return sum(n for _, n in self.counts)

    @property
    def winners(self) -> tuple[str, ...]:
        """The classes with the most votes; none when nobody answered."""
        return tuple(answer for answer, n in self.counts if n == self.counts[0][1])

    @property
    def entropy_bits(self) -> float:
        """Shannon entropy of the answers given, in bits; 0.0 when nobody answered."""
        total = self.num_answered
        return sum((-n / total * log2(n / total) for _, n in self.counts), start=0.0)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate with its reward (None: no tag) and its summary."""

    candidate: Candidate
    reward: int | None
    summary: str


History = tuple[Attempt, ...]
"""The attempts kept so far, oldest first."""


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
        num_draws = self.votes.num_answered + self.votes.num_abstained
        if num_draws == 0:
            return 0.0
        if self.votes.num_answered == 0:
            return 5 * log2(max(num_draws, 2))
        return self.votes.entropy_bits + log2(num_draws) * self.votes.num_abstained / num_draws


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
