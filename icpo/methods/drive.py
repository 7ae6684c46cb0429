"""The loop that advances many questions on one engine."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, TypeVar

from icpo.methods.metering import Meter
from icpo.types import (
    Batches,
    Completion,
    Computation,
    Engine,
    Observer,
    QuestionResult,
    SampleRequest,
    Solving,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """What a computation returned."""

    value: T


def advance(
    computation: Computation[T], batches: Batches | None = None
) -> "list[SampleRequest] | Returned[T]":
    """Start or continue a computation: its next requests or its return value."""
    try:
        return next(computation) if batches is None else computation.send(batches)
    except StopIteration as stop:
        return Returned(stop.value)


@dataclass(slots=True)
class Run:
    """One question being solved: observers, requests and completions."""

    solving: Solving
    observers: Sequence[Observer] = ()
    requests: list[SampleRequest] = field(default_factory=list, init=False)
    batches: Batches = field(default_factory=list, init=False)
    num_missing: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.observers = (*self.observers, Meter())

    def advance(self, batches: Batches | None = None) -> QuestionResult | None:
        """Send completions; return the next requests, or the result."""
        while not isinstance(stage := advance(self.solving, batches), Returned):
            for observer in self.observers:
                observer.requested(stage)
            if stage:
                self.requests, self.batches, self.num_missing = stage, [[] for _ in stage], len(stage)
                return None
            batches = []
        result = stage.value
        for observer in self.observers:
            result = observer.returned(result)
        return result

    def complete(self, index: int, completions: list[Completion]) -> bool:
        """Take one request's completions; whether its stage is complete."""
        self.batches[index] = completions
        self.num_missing -= 1
        if self.num_missing:
            return False
        for observer in self.observers:
            observer.completed(self.requests, self.batches)
        return True


def drive(runs: Iterable[Run], engine: Engine, *, max_in_flight: int) -> Iterator[QuestionResult]:
    """Results as questions finish, at most `max_in_flight` running at a time.

    Each submits its next requests as soon as its own are completed. An engine that completes what it has in
    one batch therefore sees one stage of all running questions at a time.
    """
    waiting = iter(runs)
    tickets = count()
    owners: dict[int, tuple[Run, int]] = {}
    num_running = 0

    def submit(run: Run) -> None:
        for i, request in enumerate(run.requests):
            ticket = next(tickets)
            owners[ticket] = (run, i)
            engine.submit(ticket, request)

    while True:
        while num_running < max_in_flight and (run := next(waiting, None)) is not None:
            if (result := run.advance()) is not None:
                yield result
                continue
            num_running += 1
            submit(run)
        if num_running == 0:
            return
        for ticket, completions in engine.finished():
            run, i = owners.pop(ticket)
            if run.complete(i, completions):
                if (result := run.advance(run.batches)) is None:
                    submit(run)
                else:
                    num_running -= 1
                    yield result


def complete(engine: Engine, requests: Sequence[SampleRequest]) -> Batches:
    """The completions of requests submitted together, in order."""
    done: dict[int, list[Completion]] = {}
    for ticket, request in enumerate(requests):
        engine.submit(ticket, request)
    while len(done) < len(requests):
        done |= engine.finished()
    return [done[ticket] for ticket in range(len(requests))]
