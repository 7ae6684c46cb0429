"""Values of a tree's states: own verdicts, or a vote."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Protocol

from pydantic import PositiveInt

from icpo.methods.judging import Judge, Verdicts, mean_verdict, verdict_request
from icpo.seeding import derive_seed
from icpo.types import (
    Candidate,
    Completion,
    Computation,
    Prompt,
    PromptBook,
    Purpose,
    Question,
    Toolkit,
    validated,
)

Replies = tuple[str | None, ...]
"""What was sampled to value one state: texts of verdicts, or answers of continuations."""


class ThoughtPrompts(Protocol):
    """How a solution is continued (icpo/prompts/tot.py)."""

    def next_step(self, book: PromptBook, question: Question, steps: str) -> Prompt:
        """Asks for one more step."""

    def rest(self, book: PromptBook, question: Question, steps: str) -> Prompt:
        """Asks for all that is missing."""

    def is_finished(self, steps: str) -> bool:
        """Whether the final output was written."""


@dataclass(frozen=True, slots=True)
class State:
    """A partial solution.

    `samples` are the equal thoughts that led to it, their answers read from the whole `text`; `step` and
    `parent` are places in the trace; nothing may follow a leaf. The root has none of these.
    """

    text: str
    samples: tuple[Candidate, ...] = ()
    is_leaf: bool = False
    parent: int | None = None
    step: int | None = None
    replies: Replies | None = None

    @property
    def answer(self) -> str | None:
        """The answer that its text gives."""
        return self.samples[0].answer if self.samples else None


class Evaluation(Protocol):
    """Values the states of one depth."""

    def ask(
        self, question: Question, states: Sequence[State], prompts: ThoughtPrompts, tools: Toolkit, scope: int
    ) -> Computation[list[Replies]]:
        """Sample what is needed to value these states, each independently."""

    def values(self, question: Question, replies: Sequence[Replies], tools: Toolkit) -> list[float]:
        """One value a state from the replies on all; higher is better."""

    def verdicts(self, replies: Replies) -> Verdicts:
        """The model's verdicts on one state; none where not needed."""


@validated
class SelfEvaluation:
    """Values a state by the model's mean verdict, -100 to 100."""

    judge: Judge
    num_replies: PositiveInt

    def ask(
        self, question: Question, states: Sequence[State], prompts: ThoughtPrompts, tools: Toolkit, scope: int
    ) -> Computation[list[Replies]]:
        """The texts of the verdicts."""
        if not states:
            return []
        sampled = yield [
            verdict_request(question, state.text, self.judge, tools, self.num_replies, scope)
            for state in states
        ]
        return [tuple(tools.visible(c.text) for c in completions) for completions in sampled]

    def values(self, question: Question, replies: Sequence[Replies], tools: Toolkit) -> list[float]:
        """The mean readable verdict; -100 where none could be read."""
        return [mean_verdict(self.verdicts(texts)) for texts in replies]

    def verdicts(self, replies: Replies) -> Verdicts:
        """The verdicts in these texts."""
        return tuple(self.judge.read(text or "") for text in replies)


@validated
class ContinuationVote:
    """Values states by a vote among their continuations.

    Each is continued to the end `num_replies` times, and all answers of one depth vote. A state's value is
    the share of its continuations that gave the majority's answer (any of those tied), from 0 to 1; a leaf
    votes with its own answer alone, at no cost. What was thought several times is sampled once and votes as
    often as it was thought.
    """

    num_replies: PositiveInt

    def ask(
        self, question: Question, states: Sequence[State], prompts: ThoughtPrompts, tools: Toolkit, scope: int
    ) -> Computation[list[Replies]]:
        """The answers of the continuations."""
        open_states = [state for state in states if not state.is_leaf]
        requests = [
            tools.ask(
                Purpose.LOOKAHEAD,
                prompts.rest(tools.prompts, question, state.text),
                self.num_replies,
                derive_seed(scope, "vote", state.text),
            )
            for state in open_states
        ]
        sampled = (yield requests) if requests else []
        answers = {
            state.text: tuple(continued(question, state.text, c, tools).answer for c in completions)
            for state, completions in zip(open_states, sampled, strict=True)
        }
        return [
            answers.get(state.text, (state.answer,) * self.num_replies) * len(state.samples)
            for state in states
        ]

    def values(self, question: Question, replies: Sequence[Replies], tools: Toolkit) -> list[float]:
        """The share of each state's answers that are the majority's."""
        votes = tools.tally([answer for answers in replies for answer in answers], question.kind)
        won = iter([float(label is not None and label in votes.winners) for label in votes.labels])
        return [mean(next(won) for _ in answers) for answers in replies]

    def verdicts(self, replies: Replies) -> Verdicts:
        """None: a vote asks for no opinion."""
        return ()


def continued(question: Question, text: str, completion: Completion, tools: Toolkit) -> Candidate:
    """The completion, with the answer of it and its prefix."""
    return Candidate(completion, tools.read(text + tools.visible(completion.text), question.kind))
