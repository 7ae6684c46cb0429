"""Methods that give one answer are run k times for Mean@k, side by side and all charged."""

from collections.abc import Callable
from dataclasses import replace

from icpo.methods.side_by_side import side_by_side
from icpo.seeding import derive_seed
from icpo.types import Candidate, Drawing, Question, QuestionResult, Solving, Step

Answering = Drawing[tuple[list[Step], Candidate]]
"""One run for one answer: its steps, whose parents count from its first one, and the answer."""


def answer_independently(
    question: Question, num_finals: int, answering: Callable[[int], Answering], *, seed: int
) -> Solving:
    """The answers of `num_finals` runs, each under its own seed; the trace holds run after run."""
    scope = derive_seed(seed, question.question_id)
    runs = yield from side_by_side(answering(derive_seed(scope, "answer", i)) for i in range(num_finals))
    trace: list[Step] = []
    for steps, _ in runs:
        start = len(trace)
        trace += [replace(s, parent=None if s.parent is None else s.parent + start) for s in steps]
    return QuestionResult(question, seed, tuple(trace), ((0, tuple(answer for _, answer in runs)),))
