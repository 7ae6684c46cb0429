"""The model's own opinion of a solution, without gold."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean
from typing import Protocol

from icpo.seeding import derive_seed
from icpo.types import Completion, Computation, Prompt, Purpose, Question, SampleRequest, Toolkit

WORST, BEST = -100.0, 100.0
Verdicts = tuple[float | None, ...]
"""Verdicts on one solution as read; None is one that could not be read."""


class Judge(Protocol):
    """How the model judges a solution, and its reply is read."""

    max_tokens: int

    def ask(self, question: Question, solution: str) -> Prompt:
        """Asks for a verdict on a solution, whole or partial."""

    def read(self, reply: str) -> float | None:
        """The verdict, from WORST to BEST; None where the reply holds none."""


def sample_verdicts(
    question: Question, solutions: Sequence[str], judge: Judge, tools: Toolkit, num_verdicts: int, scope: int
) -> Computation[list[Verdicts]]:
    """`num_verdicts` verdicts on each solution; equal solutions are judged once."""
    unique = list(dict.fromkeys(solutions))
    if not unique:
        return []
    sampled = yield [
        verdict_request(question, solution, judge, tools, num_verdicts, scope) for solution in unique
    ]
    replies = dict(zip(unique, sampled, strict=True))
    return [read_verdicts(judge, replies[solution], tools) for solution in solutions]


def verdict_request(
    question: Question, solution: str, judge: Judge, tools: Toolkit, num_verdicts: int, scope: int
) -> SampleRequest:
    """`num_verdicts` verdicts on one solution; their seed depends on its text."""
    seed = derive_seed(scope, "verdict", solution)
    request = tools.ask(Purpose.VALUE, judge.ask(question, solution), num_verdicts, seed)
    return shortened(request, judge.max_tokens + tools.thinking_tokens)


def read_verdicts(judge: Judge, replies: Sequence[Completion], tools: Toolkit) -> Verdicts:
    """The verdicts that these replies give."""
    return tuple(judge.read(tools.visible(reply.text)) for reply in replies)


def mean_verdict(verdicts: Verdicts) -> float:
    """The mean of those that could be read; WORST where none could."""
    read = [verdict for verdict in verdicts if verdict is not None]
    return mean(read) if read else WORST


def shortened(request: SampleRequest, max_tokens: int, stop: tuple[str, ...] = ()) -> SampleRequest:
    """The same request for at most `max_tokens` tokens, ending also at `stop`."""
    sampling = request.sampling.limited(max_tokens)
    return replace(request, sampling=replace(sampling, stop=(*sampling.stop, *stop)))
