"""The values that flow through a cell and the protocols that its parts meet as; all values are frozen."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import log2
from typing import ClassVar, Protocol, TypeAlias, TypeVar, runtime_checkable


class AnswerKind(str, Enum):
    """What an answer looks like, which decides its prompts, its extraction and its equivalence."""

    NUMBER = "number"
    CHOICE = "choice"
    EXPRESSION = "expression"


class Purpose(str, Enum):
    """What a draw is for; seeds, journals and costs are kept apart by it."""

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
    """One question. It carries no gold answer: only the oracle reward and the grader hold the golds."""

    question_id: str
    text: str
    kind: AnswerKind


@dataclass(frozen=True, slots=True)
class Sampling:
    """How completions of one purpose are drawn.

    `min_room_tokens` is the room a prompt must leave in the backbone's context: a prompt that leaves less is
    answered with `prompt_too_long`, one that leaves less than `max_tokens` is answered with what room there
    is.
    """

    temperature: float
    top_p: float
    max_tokens: int
    min_tokens: int = 0
    repetition_penalty: float = 1.0
    stop: tuple[str, ...] = ()
    min_room_tokens: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", tuple(self.stop))
        if not 0 <= self.temperature <= 2:
            raise ValueError(f"temperature must lie in [0, 2], got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must lie in (0, 1], got {self.top_p}")
        if not 0 <= self.min_tokens <= self.max_tokens or self.max_tokens < 1:
            raise ValueError(
                f"max_tokens must be at least 1 and min_tokens at most max_tokens, "
                f"got max_tokens={self.max_tokens}, min_tokens={self.min_tokens}"
            )
        if not 0 < self.repetition_penalty <= 2:
            raise ValueError(f"repetition_penalty must lie in (0, 2], got {self.repetition_penalty}")
        if not 1 <= self.min_room_tokens <= self.max_tokens:
            raise ValueError(
                f"min_room_tokens must lie in [1, max_tokens={self.max_tokens}], got {self.min_room_tokens}"
            )

    @property
    def is_greedy(self) -> bool:
        """Whether every draw is the same."""
        return self.temperature == 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: the engine applies the backbone's chat template, or joins the two raw.

    Half a character (a lone surrogate), which no tokenizer and no server takes, becomes U+FFFD.
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
    """`num_samples` completions of one prompt; sample i of an engine that seeds by sample uses seed + i."""

    purpose: Purpose
    prompt: Prompt
    sampling: Sampling
    num_samples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Completion:
    """One completion; `draw` is its place in the journal, set when it is journalled."""

    text: str
    num_prompt_tokens: int
    num_completion_tokens: int
    finish_reason: FinishReason
    num_cached_tokens: int = 0
    draw: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A completion with the answer read from it; None is an abstention."""

    completion: Completion
    answer: str | None

    @property
    def is_truncated(self) -> bool:
        """Whether it ended for want of room rather than by itself."""
        return self.completion.finish_reason in (FinishReason.LENGTH, FinishReason.PROMPT_TOO_LONG)


@dataclass(frozen=True, slots=True)
class Votes:
    """Answer counts by equivalence class, most frequent first; abstentions are counted apart.

    `labels` holds, in the order the answers were given, the representative of each answer's class (None for
    an abstention).
    """

    counts: tuple[tuple[str, int], ...]
    num_abstained: int
    labels: tuple[str | None, ...] = ()

    @property
    def num_answered(self) -> int:
        """How many gave an answer."""
        return sum(n for _, n in self.counts)

    @property
    def winners(self) -> tuple[str, ...]:
        """The classes with the most votes: several in a tie, none when nobody answered."""
        return tuple(answer for answer, n in self.counts if n == self.counts[0][1])

    @property
    def entropy_bits(self) -> float:
        """Shannon entropy of the answers given, in bits; 0.0 when nobody answered."""
        total = self.num_answered
        return sum(-n / total * log2(n / total) for _, n in self.counts)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate with its reward (None: no tag) and its summary, as it stands in a history."""

    candidate: Candidate
    reward: int | None
    summary: str


History = tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class Lookahead:
    """The answers drawn with one more attempt in the history; `attempt` is its index in the round."""

    attempt: int
    votes: Votes
    candidates: tuple[Candidate, ...] = ()

    @property
    def entropy_bits(self) -> float:
        """Entropy of the answers given plus a price for silence, in bits (docs/paper_notes.md).

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
    """One reward per candidate (None: no tag); `winner` is the class that was rewarded, if one was."""

    tags: tuple[int | None, ...]
    winner: str | None = None
    num_tied: int = 0


@dataclass(frozen=True, slots=True)
class Selection:
    """The attempts kept, as indices into those given, and the look-aheads that decided."""

    kept: tuple[int, ...]
    lookaheads: tuple[Lookahead, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did. `eligible[i]` is the candidate index of attempt i; `kept` indexes attempts.

    `num_dropped` counts attempts left out of the candidates' prompt for want of room.
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
    """One step of a search baseline: its draws, the value given to it and the step it grew from."""

    name: str
    candidates: tuple[Candidate, ...]
    value: float | None = None
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What one question cost. A prompt is counted once a request: its samples share one prefill."""

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
    """All that was drawn for one question under one seed; `finals` pairs rounds done with finals.

    `usage_at_finals` holds, for each set of finals, the cost of a run that ends with it.
    """

    question: Question
    seed: int
    trace: tuple[Round | Step, ...]
    finals: tuple[tuple[int, tuple[Candidate, ...]], ...]
    usage: Usage = field(default_factory=Usage)
    usage_at_finals: tuple[Usage, ...] = ()


Batches = list[list[Completion]]
T = TypeVar("T")
Drawing: TypeAlias = Generator[list[SampleRequest], Batches, T]
"""A computation that draws: it yields requests, is sent their completions and returns a T."""
Solving = Drawing[QuestionResult]
Selecting = Drawing[Selection]
Looking = Drawing[list[Lookahead]]


class PromptBook(Protocol):
    """The prompts of a protocol."""

    def plain(self, question: Question) -> Prompt:
        """Question and output format only."""

    def solve(self, question: Question, history: History) -> Prompt:
        """Question with the ideas of a history, which may be empty."""

    def look_ahead(self, question: Question, history: History) -> Prompt:
        """What a look-ahead continues."""

    def looked_ahead(self, completion: Completion) -> str:
        """What a look-ahead says, to read its answer from."""

    def summary(self, question: Question, text: str) -> Prompt:
        """Asks for a summary of a candidate's text."""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """What a method works with besides its own settings: prompts, sampling by purpose, reading and voting."""

    prompts: PromptBook
    sampling: Mapping[Purpose, Sampling]
    read: Callable[[str, AnswerKind], str | None]
    tally: Callable[[Sequence[str | None], AnswerKind], Votes]
    reasoning_end: str | None = None

    def visible(self, text: str) -> str:
        """What a completion says once its reasoning is cut off; nothing where the reasoning never ended."""
        if self.reasoning_end is None:
            return text
        return text.rpartition(self.reasoning_end)[2] if self.reasoning_end in text else ""

    def ask(self, purpose: Purpose, prompt: Prompt, num_samples: int, seed: int) -> SampleRequest:
        """A request with its purpose's sampling; seed 0 when greedy, as every draw is alike."""
        sampling = self.sampling[purpose]
        return SampleRequest(purpose, prompt, sampling, num_samples, 0 if sampling.is_greedy else seed)

    def candidates(self, completions: Sequence[Completion], kind: AnswerKind) -> tuple[Candidate, ...]:
        """The completions with their answers read."""
        return tuple(Candidate(c, self.read(self.visible(c.text), kind)) for c in completions)

    def lookaheads(self, completions: Sequence[Completion], kind: AnswerKind) -> tuple[Candidate, ...]:
        """The completions of look-aheads with their answers read."""
        said = [self.visible(self.prompts.looked_ahead(completion)) for completion in completions]
        return tuple(Candidate(c, self.read(text, kind)) for c, text in zip(completions, said, strict=True))

    def votes(self, candidates: Sequence[Candidate], kind: AnswerKind) -> Votes:
        """The candidates' answers by equivalence class."""
        return self.tally([c.answer for c in candidates], kind)


class Method(Protocol):
    """One way to answer a question at test time; pure logic that yields requests and receives completions."""

    @property
    def name(self) -> str:
        """What conf/method calls it."""

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Answers one question."""


class RewardSource(Protocol):
    """Where the rewards of a round come from."""

    @property
    def name(self) -> str:
        """What conf/reward calls it."""

    @property
    def tagged(self) -> bool:
        """Whether ideas are shown with their reward."""

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """One reward per candidate; `seed` breaks ties."""


class AskLookahead(Protocol):
    """Draws look-aheads for a selector: more for some attempts than for others if it wishes."""

    def __call__(self, wanted: Mapping[int, int]) -> Looking:
        """Draws `wanted[i]` more look-aheads of attempt i; returns all drawn so far of each i asked."""


class Selector(Protocol):
    """Which attempts of a round enter the history."""

    needs_lookaheads: ClassVar[bool]

    @property
    def name(self) -> str:
        """What conf/selector calls it."""

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """The attempts kept; asks for look-aheads if needed, at most `num_lookaheads` of each."""


@runtime_checkable
class Engine(Protocol):
    """A continuous engine: requests may be added while others run."""

    identity: str

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request under a ticket of the caller's."""

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """The requests that ended since the last call; waits for one. Raises EngineError if it died."""

    def cancel(self, ticket: int) -> None:
        """Drops a request: it will not be reported as finished."""

    def close(self) -> None:
        """Frees all that it holds."""


@runtime_checkable
class BlockEngine(Protocol):
    """An engine that answers a batch at once; a completion depends on its batch and on nothing else."""

    identity: str
    block_questions: int

    def generate(self, requests: Sequence[SampleRequest]) -> Batches:
        """The completions of each request."""

    def close(self) -> None:
        """Frees all that it holds."""
