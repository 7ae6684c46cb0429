"""Ways to ask an engine for the same work: as the authors' code does, stage by stage, or as it comes up."""

from collections.abc import Callable, Sequence
from enum import Enum
from itertools import groupby

from icpo.methods import drive, drive_block
from icpo.types import Batches, Completion, Engine, Purpose, SampleRequest, Solving


class Schedule(str, Enum):
    """In which order requests are asked.

    `authors`: one question at a time, summaries one by one; `lockstep`: each stage of all questions at once;
    `pipelined`: each question goes on as soon as its own requests are answered.
    """

    AUTHORS = "authors"
    LOCKSTEP = "lockstep"
    PIPELINED = "pipelined"


def run_schedule(schedule: Schedule, solvings: Sequence[Solving], engine: Engine, max_in_flight: int) -> None:
    """Solves all questions by a schedule; `max_in_flight` bounds the pipelined one."""
    if schedule is Schedule.PIPELINED:
        for _ in drive(solvings, engine, max_in_flight=max_in_flight):
            pass
    elif schedule is Schedule.LOCKSTEP:
        drive_block(solvings, AtOnce(engine, lambda request: 0))
    else:
        one_by_one = AtOnce(engine, lambda request: id(request) if request.purpose is Purpose.SUMMARY else 0)
        for solving in solvings:
            drive_block([solving], one_by_one)


class AtOnce:
    """A continuous engine asked in batches, each waited for; requests of one `batch_of` go together."""

    block_questions = 1

    def __init__(self, engine: Engine, batch_of: Callable[[SampleRequest], int]) -> None:
        self.identity = engine.identity
        self._engine, self._batch_of = engine, batch_of

    def generate(self, requests: Sequence[SampleRequest]) -> Batches:
        """The completions of each request."""
        done: dict[int, list[Completion]] = {}
        numbered = enumerate(requests)
        for _, batch in groupby(numbered, key=lambda item: self._batch_of(item[1])):
            waiting = set()
            for ticket, request in batch:
                self._engine.submit(ticket, request)
                waiting.add(ticket)
            while waiting:
                for ticket, completions in self._engine.finished():
                    done[ticket] = completions
                    waiting.remove(ticket)
        return [done[ticket] for ticket in range(len(requests))]

    def close(self) -> None:
        """Leaves the engine as it is."""
