"""Several computations advanced together, so that the engine sees all their requests at once."""

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from icpo.methods.drive import Returned, advance
from icpo.types import Batches, Drawing, SampleRequest

T = TypeVar("T")


def side_by_side(computations: Iterable[Drawing[T]]) -> Drawing[list[T]]:
    """What each computation returns, in order; a stage is the union of what all that still run request.

    Each is sent the completions of its own requests alone, so its result is the one that it would have alone.
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
