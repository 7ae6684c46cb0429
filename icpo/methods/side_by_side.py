"""Several computations advanced together, so that the engine sees all their requests at once."""

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from icpo.types import Batches, Drawing, SampleRequest

T = TypeVar("T")


def side_by_side(drawings: Iterable[Drawing[T]]) -> Drawing[list[T]]:
    """What each computation returns, in order; a stage is the union of what all that still run ask for.

    Each is sent the completions of its own requests alone, so its result is the one that it would have alone.
    """
    running = list(drawings)
    results: dict[int, T] = {}
    answers: dict[int, Batches | None] = dict.fromkeys(range(len(running)))
    while answers:
        asked: dict[int, list[SampleRequest]] = {}
        for i, batches in answers.items():
            try:
                asked[i] = next(running[i]) if batches is None else running[i].send(batches)
            except StopIteration as stop:
                results[i] = stop.value
        drawn = iter(
            (yield [request for requests in asked.values() for request in requests]) if asked else []
        )
        answers = {i: list(islice(drawn, len(requests))) for i, requests in asked.items()}
    return [results[i] for i in range(len(running))]
