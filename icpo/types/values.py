"""The values that flow through a cell; all are frozen."""

from dataclasses import dataclass, replace
from enum import Enum
from math import log2
from typing import Annotated

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
        """The same sampling, limited to so many tokens."""
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
