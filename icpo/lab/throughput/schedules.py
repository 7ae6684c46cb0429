"""Schedules: the authors', stage by stage, or as work comes up."""

from collections.abc import Sequence
from enum import Enum

from icpo.methods import Run, complete, drive
from icpo.types import Completion, Engine, Purpose, SampleRequest, Solving


class Schedule(str, Enum):
    """In which order requests are asked.

    `authors`: one question at a time, summaries one by one; `sequential`: one question at a time, each stage
    at once; `lockstep`: each stage of all questions at once; `pipelined`: each question goes on as soon as
    its own requests are answered.
    """

    AUTHORS = "authors"
    SEQUENTIAL = "sequential"
    LOCKSTEP = "lockstep"
    PIPELINED = "pipelined"


def run_schedule(schedule: Schedule, solvings: Sequence[Solving], engine: Engine, max_in_flight: int) -> None:
    """Solves all questions by a schedule; `max_in_flight` bounds the pipelined one."""
    at_a_time = {
        Schedule.AUTHORS: (1, Stagewise(engine, one_by_one=(Purpose.SUMMARY,))),
        Schedule.SEQUENTIAL: (1, engine),
        Schedule.LOCKSTEP: (len(solvings), Stagewise(engine)),
        Schedule.PIPELINED: (max_in_flight, engine),
    }
    num_questions, scheduled = at_a_time[schedule]
    for _ in drive(map(Run, solvings), scheduled, max_in_flight=num_questions):
        pass


class Stagewise:
    """An engine that waits until all requests are completed."""

    block_questions = None

    def __init__(self, engine: Engine, one_by_one: Sequence[Purpose] = ()) -> None:
        self.identity = engine.identity
        self._engine, self._one_by_one = engine, one_by_one
        self._waiting: dict[int, SampleRequest] = {}

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request for the next stage."""
        self._waiting[ticket] = request

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """The stage, completed."""
        tickets, requests = list(self._waiting), list(self._waiting.values())
        self._waiting.clear()
        if requests[0].purpose in self._one_by_one:
            batches = [batch for request in requests for batch in complete(self._engine, [request])]
        else:
            batches = complete(self._engine, requests)
        return list(zip(tickets, batches, strict=True))

    def cancel(self, ticket: int) -> None:
        """Drops a request from the next stage."""
        self._waiting.pop(ticket, None)

    def close(self) -> None:
        """Leaves the engine as it is."""
