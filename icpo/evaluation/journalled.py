"""An engine behind a journal: nothing is sampled twice."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count

from icpo.errors import EngineError
from icpo.store import Journal
from icpo.types import Batches, Completion, Engine, SampleRequest


def request_key(identity: str, request: SampleRequest) -> str:
    """A digest of all that determines a request's completions."""
    return _digest(
        identity,
        request.prompt.system,
        request.prompt.user,
        json.dumps({k: v for k, v in asdict(request.sampling).items() if v is not None}, sort_keys=True),
        str(request.num_samples),
        str(request.seed),
        *(["scored", request.score_after, *request.scored] if request.scored else []),
    )


def batch_key(identity: str, keys: Sequence[str]) -> str:
    """A digest of a batch, whose shape changes the bits."""
    return _digest(identity, "batch", *keys)


def _digest(*parts: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


@dataclass(slots=True)
class _Record:
    """Requests that the journal keeps under one key: a single one, or a batch."""

    key: str
    requests: list[str]
    completions: dict[str, list[Completion]] = field(default_factory=dict)


class NotJournalledError(Exception):
    """A request whose completions are not in the journal, where nothing may be sampled."""


class JournalledEngine:
    """An engine that stores each request, or batch, as a record.

    `num_sampled_tokens` counts what the engine made; what the journal held already is not in it.
    """

    def __init__(
        self, engine: Engine, journal: Journal, check: Callable[[], None], *, samples: bool = True
    ) -> None:
        """`check` is called before each wait; it raises when the run is to stop.

        With `samples` false nothing is sampled: what the journal lacks raises NotJournalledError.
        """
        self.identity = engine.identity
        self.block_questions = engine.block_questions
        self.num_sampled_tokens = 0
        self._engine, self._journal, self._check, self._samples = engine, journal, check, samples
        self._new: dict[str, SampleRequest] = {}
        self._tickets: dict[str, list[int]] = defaultdict(list)
        self._running: dict[int, tuple[_Record, str]] = {}
        self._ready: list[tuple[int, list[Completion]]] = []
        self._numbers = count()

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request whose completions are neither known nor in flight.

        Raises EngineError for a request that scores texts where the engine cannot.
        """
        if request.scored and not getattr(self._engine, "can_score", False):
            raise EngineError(
                f"The engine ({self.identity}) gives no log-probabilities of given texts. "
                "Set method.score=false, or take engine=transformers or engine=vllm."
            )
        key = request_key(self.identity, request)
        if key not in self._tickets:
            self._new[key] = request
        self._tickets[key].append(ticket)
        if self.block_questions is None:
            self._start()

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """Requests that ended, in the journal by now; known ones first."""
        self._check()
        self._start()
        if not self._ready:
            for number, completions in self._engine.finished():
                self._take(number, completions)
        ready, self._ready = sorted(self._ready, key=lambda item: item[0]), []
        return ready

    def cancel(self, ticket: int) -> None:
        """Drop a request, and its samples if no other needs them."""
        self._ready = [item for item in self._ready if item[0] != ticket]
        key = next((key for key, tickets in self._tickets.items() if ticket in tickets), None)
        if key is None:
            return
        self._tickets[key].remove(ticket)
        if self._tickets[key] or self.block_questions is not None:
            return
        del self._tickets[key]
        number = next(number for number, (_, running) in self._running.items() if running == key)
        del self._running[number]
        self._engine.cancel(number)

    def close(self) -> None:
        """Leaves the engine as it is: others may use it."""

    def _start(self) -> None:
        """Looks the new requests up in the journal as one record; submits what is not there."""
        new, self._new = self._new, {}
        if not new:
            return
        requests = list(new)
        is_batch = self.block_questions is not None
        record = _Record(batch_key(self.identity, requests) if is_batch else requests[0], requests)
        known = self._journal.get(record.key)
        if known is not None:
            self._release(record, known)
            return
        if not self._samples:
            raise NotJournalledError(record.key)
        for key, request in new.items():
            number = next(self._numbers)
            self._running[number] = (record, key)
            self._engine.submit(number, request)

    def _take(self, number: int, completions: list[Completion]) -> None:
        """Keeps the completions of one request; stores the record once it is whole."""
        record, key = self._running.pop(number)
        record.completions[key] = completions
        self.num_sampled_tokens += sum(one.num_completion_tokens for one in completions)
        if len(record.completions) == len(record.requests):
            batches = [record.completions[key] for key in record.requests]
            self._release(record, self._journal.put(record.key, batches))

    def _release(self, record: _Record, batches: Batches) -> None:
        for key, completions in zip(record.requests, batches, strict=True):
            self._ready += [(ticket, completions) for ticket in self._tickets.pop(key)]
