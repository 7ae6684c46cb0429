"""Protocols of a cell's parts, and what a method works with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from icpo.types.budget import Budget
from icpo.types.results import Batches, Looking, QuestionResult, Rewards, Selecting, Solving
from icpo.types.values import (
    AnswerKind,
    Attempt,
    Candidate,
    Completion,
    History,
    Prompt,
    Purpose,
    Question,
    SampleRequest,
    Sampling,
    Votes,
)


class PromptBook(Protocol):
    """The prompts of a protocol."""

    def plain(self, question: Question) -> Prompt:
        """The question and the output format only."""

    def solve(self, question: Question, history: History) -> Prompt:
        """The question with the attempts of a history, which may be empty."""

    def look_ahead(self, question: Question, history: History) -> Prompt:
        """The prompt of a look-ahead."""

    def looked_ahead(self, completion: Completion) -> str:
        """The text of a look-ahead from which its answer is read."""

    def summary(self, question: Question, text: str) -> Prompt:
        """The prompt for a summary of a candidate's text."""


def visible(text: str, reasoning_end: str | None) -> str:
    """The text after the last `reasoning_end`.

    Everything if it is None; nothing if the reasoning never ended.
    """
    if reasoning_end is None:
        return text
    return text.rpartition(reasoning_end)[2] if reasoning_end in text else ""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """What a method works with besides its own settings.

    Prompts, sampling by purpose, reading and voting. `thinking_tokens` is what a reply that is to be short (a
    verdict, a step) gets on top, for its thoughts.
    """

    prompts: PromptBook
    sampling: Mapping[Purpose, Sampling]
    read: Callable[[str, AnswerKind], str | None]
    tally: Callable[[Sequence[str | None], AnswerKind], Votes]
    reasoning_end: str | None = None
    thinking_tokens: int = 0

    def visible(self, text: str) -> str:
        """A completion without its reasoning."""
        return visible(text, self.reasoning_end)

    def ask(self, purpose: Purpose, prompt: Prompt, num_samples: int, seed: int) -> SampleRequest:
        """A request with its purpose's sampling; seed 0 when greedy."""
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
    """One way to answer a question at test time.

    Pure logic: it yields requests and receives completions.
    """

    @property
    def name(self) -> str:
        """Its name in conf/method."""

    @property
    def label(self) -> str:
        """A name that holds every setting that varies in a run."""

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Answer one question: a generator whose requests depend on its arguments alone."""


@runtime_checkable
class Relating(Protocol):
    """A method that shows a question something of the benchmark's others."""

    def among(self, questions: Sequence[Question]) -> "Method":
        """The same method, with all questions of the benchmark known."""


@runtime_checkable
class Extensible(Method, Protocol):
    """A method that can add final samples to a stored result."""

    @property
    def budget(self) -> Budget:
        """Its budget, whose `num_finals` says how many there are to be."""

    def add_finals(self, result: QuestionResult, tools: Toolkit, *, num_more: int) -> Solving:
        """The same result with `num_more` more final samples at each set.

        The texts of the result's completions are not available.
        """


class RewardSource(Protocol):
    """Where the rewards of a round come from."""

    @property
    def name(self) -> str:
        """Its name in conf/reward."""

    @property
    def tagged(self) -> bool:
        """Whether attempts are shown with their reward."""

    def rewards(
        self, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
    ) -> Rewards:
        """One reward per candidate: 1, 0 or None. `seed` breaks ties."""


class AskLookahead(Protocol):
    """Samples look-aheads for a selector, given numbers by attempt."""

    def __call__(self, wanted: Mapping[int, int]) -> Looking:
        """Sample `wanted[i]` more look-aheads of attempt i; return all so far of each i in `wanted`.

        Attempts that do not fit the context even alone are left out.
        """


class Selector(Protocol):
    """Which attempts of a round enter the history."""

    needs_lookaheads: ClassVar[bool]

    @property
    def name(self) -> str:
        """Its name in conf/selector."""

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """The attempts kept, as different indices, in the history's order.

        A generator; asks for look-aheads if needed (`yield from ask({i: 4})`), at most `num_lookaheads` of
        each attempt.
        """


class Engine(Protocol):
    """Completes requests; more may be submitted while others run.

    With `block_questions` None a request is completed by itself. With a number, what is submitted between two
    calls of `finished` is one batch and each completion depends on the whole of it: the requests of so many
    questions are submitted together.
    """

    identity: str

    @property
    def block_questions(self) -> int | None:
        """Questions whose requests share a batch; None without batches."""

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queue a request under the caller's ticket."""

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """The requests that ended since the last call; waits for one.

        Raises EngineError if the engine dies.
        """

    def cancel(self, ticket: int) -> None:
        """Drop a request: it will not be reported as finished."""

    def close(self) -> None:
        """Free everything that it holds."""


class Observer:
    """Observes one question while it is solved; override what you need."""

    def requested(self, requests: list[SampleRequest]) -> None:
        """Called with each stage's requests before they are submitted."""

    def completed(self, requests: list[SampleRequest], batches: Batches) -> None:
        """Called with requests and completions, before the method receives them."""

    def returned(self, result: QuestionResult) -> QuestionResult:
        """Called with the method's result; returns it or an enriched copy."""
        return result
