"""Methods that give one answer, run k times for Mean@k."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from icpo.methods.drive import Returned, advance
from icpo.seeding import derive_seed
from icpo.types import (
    Batches,
    Budget,
    Candidate,
    Computation,
    Question,
    QuestionResult,
    Round,
    SampleRequest,
    Solving,
    Step,
    Toolkit,
)

T = TypeVar("T")


def side_by_side(computations: Iterable[Computation[T]]) -> Computation[list[T]]:
    """What each computation returns, in order, run side by side.

    A stage is the union of what all that still run request. Each is sent the completions of its own requests
    alone, so its result is the one that it would have alone.
    """
    running = list(computations)
    results: dict[int, T] = {}
    batches: dict[int, Batches | None] = dict.fromkeys(range(len(running)))
    while batches:
        requests: dict[int, list[SampleRequest]] = {}
        for i, own in batches.items():
            stage = advance(running[i], own)
            if isinstance(stage, Returned):
                results[i] = stage.value
            else:
                requests[i] = stage
        union = [request for own in requests.values() for request in own]
        completed = iter((yield union) if requests else [])
        batches = {i: list(islice(completed, len(own))) for i, own in requests.items()}
    return [results[i] for i in range(len(running))]


Answering = Computation[tuple[list[Step], Candidate]]
"""One run for one answer: its steps, whose parents count from its first one, and the answer."""


class Independent(ABC):
    """A method whose final answers come from runs of their own."""

    __slots__ = ()
    budget: Budget

    @abstractmethod
    def answer(self, question: Question, tools: Toolkit, scope: int) -> Answering:
        """One run."""

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """All runs of a question; the trace holds run after run."""
        nothing = QuestionResult(question, seed, (), ((0, ()),))
        return self.add_finals(nothing, tools, num_more=self.budget.num_finals)

    def add_finals(self, result: QuestionResult, tools: Toolkit, *, num_more: int) -> Solving:
        """The same result with the answers of further runs."""
        [(_, found)] = result.finals
        scope = derive_seed(result.seed, result.question.question_id)
        runs = yield from side_by_side(
            self.answer(result.question, tools, derive_seed(scope, "answer", i))
            for i in range(len(found), len(found) + num_more)
        )
        trace: list[Round | Step] = list(result.trace)
        for steps, _ in runs:
            start = len(trace)
            trace += [replace(s, parent=None if s.parent is None else s.parent + start) for s in steps]
        finals = (*found, *(answer for _, answer in runs))
        return QuestionResult(result.question, result.seed, tuple(trace), ((0, finals),))
