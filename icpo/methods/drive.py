"""Advances many questions on one engine; no question waits for another unless the engine runs in blocks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from icpo.methods.metering import metered
from icpo.types import Batches, BlockEngine, Engine, QuestionResult, SampleRequest, Solving


@dataclass(slots=True)
class _Running:
    """A solving that waits for completions: what it asked and what has arrived."""

    solving: Solving
    requests: list[SampleRequest] = field(default_factory=list)
    answers: Batches = field(default_factory=list)
    num_missing: int = 0

    def advance(self, answers: Batches | None) -> QuestionResult | None:
        """Sends answers and takes the next requests; returns the result when the solving is done."""
        try:
            self.requests = next(self.solving) if answers is None else self.solving.send(answers)
            while not self.requests:
                self.requests = self.solving.send([])
        except StopIteration as stop:
            result: QuestionResult = stop.value
            return result
        self.answers = [[] for _ in self.requests]
        self.num_missing = len(self.requests)
        return None


def drive(solvings: Iterable[Solving], engine: Engine, *, max_in_flight: int) -> Iterator[QuestionResult]:
    """Results as questions finish: each sends its next requests the moment its own are answered."""
    waiting = iter(solvings)
    tickets = count()
    owners: dict[int, tuple[_Running, int]] = {}
    num_running = 0

    def submit(running: _Running) -> None:
        for i, request in enumerate(running.requests):
            ticket = next(tickets)
            owners[ticket] = (running, i)
            engine.submit(ticket, request)

    while True:
        while num_running < max_in_flight and (solving := next(waiting, None)) is not None:
            running = _Running(metered(solving))
            if (result := running.advance(None)) is not None:
                yield result
                continue
            num_running += 1
            submit(running)
        if num_running == 0:
            return
        for ticket, completions in engine.finished():
            running, i = owners.pop(ticket)
            running.answers[i] = completions
            running.num_missing -= 1
            if running.num_missing == 0:
                result = running.advance(running.answers)
                if result is None:
                    submit(running)
                else:
                    num_running -= 1
                    yield result


def drive_block(solvings: Sequence[Solving], engine: BlockEngine) -> list[QuestionResult]:
    """The results of one block of questions, in order, its stages drawn as one batch each.

    What a batch holds depends on the block alone, so results are the same however often a run was
    interrupted.
    """
    results: list[QuestionResult | None] = [None] * len(solvings)
    running = [_Running(metered(solving)) for solving in solvings]
    live = []
    for i, one in enumerate(running):
        if (result := one.advance(None)) is None:
            live.append(i)
        else:
            results[i] = result
    while live:
        drawn = iter(engine.generate([request for i in live for request in running[i].requests]))
        still = []
        for i in live:
            answers = [next(drawn) for _ in running[i].requests]
            if (result := running[i].advance(answers)) is None:
                still.append(i)
            else:
                results[i] = result
        live = still
    return [result for result in results if result is not None]
