"""Engines behind a journal: what is known is not drawn again, equal requests in flight share one draw."""

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict

from icpo.store import Journal
from icpo.types import Batches, BlockEngine, Completion, Engine, SampleRequest


def request_key(identity: str, request: SampleRequest, *, with_purpose: bool = False) -> str:
    """A digest of all that determines the completions of a request; for most engines its purpose does not."""
    return _digest(
        identity,
        request.prompt.system,
        request.prompt.user,
        json.dumps(asdict(request.sampling), sort_keys=True),
        str(request.num_samples),
        str(request.seed),
        *([request.purpose.value] if with_purpose else []),
    )


def batch_key(identity: str, keys: Sequence[str]) -> str:
    """A digest of a batch as a whole, since the bits of a completion change with its batch's shape."""
    return _digest(identity, "batch", *keys)


def _digest(*parts: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


class JournalledBlocks:
    """A block engine whose every batch is one record."""

    def __init__(self, engine: BlockEngine, journal: Journal, check: Callable[[], None]) -> None:
        """`check` is called before a batch is drawn; it raises when the run was told to stop."""
        self.identity = engine.identity
        self.block_questions = engine.block_questions
        self._engine = engine
        self._journal = journal
        self._check = check

    def generate(self, requests: Sequence[SampleRequest]) -> Batches:
        """The completions of each request, from the journal where the batch is known."""
        keys = [request_key(self.identity, request) for request in requests]
        unique = {key: request for key, request in zip(keys, requests, strict=True)}
        key = batch_key(self.identity, list(unique))
        batches = self._journal.get(key)
        if batches is None:
            self._check()
            batches = self._journal.put(key, self._engine.generate(list(unique.values())))
        found = dict(zip(unique, batches, strict=True))
        return [found[key] for key in keys]

    def close(self) -> None:
        """Leaves the engine as it is: others may use it."""


class JournalledEngine:
    """A continuous engine whose every request is one record."""

    def __init__(self, engine: Engine, journal: Journal, check: Callable[[], None]) -> None:
        """`check` is called while waiting; it raises when the run was told to stop.

        An engine whose `ends_by_purpose` is true has the purpose of a request in its key.
        """
        self.identity = engine.identity
        self._with_purpose: bool = getattr(engine, "ends_by_purpose", False)
        self._engine = engine
        self._journal = journal
        self._check = check
        self._known: deque[tuple[int, list[Completion]]] = deque()
        self._tickets: dict[str, list[int]] = defaultdict(list)
        self._leaders: dict[int, str] = {}

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request, unless its answer is known or an equal one is in flight."""
        key = request_key(self.identity, request, with_purpose=self._with_purpose)
        known = self._journal.get(key)
        if known is not None:
            self._known.append((ticket, known[0]))
            return
        self._tickets[key].append(ticket)
        if len(self._tickets[key]) == 1:
            self._leaders[ticket] = key
            self._engine.submit(ticket, request)

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """Requests that ended, journalled; known ones first."""
        self._check()
        if self._known:
            done = list(self._known)
            self._known.clear()
            return done
        done = []
        for leader, completions in self._engine.finished():
            key = self._leaders.pop(leader)
            [stored] = self._journal.put(key, [completions])
            done += [(ticket, stored) for ticket in self._tickets.pop(key)]
        return done

    def cancel(self, ticket: int) -> None:
        """Drops a request; its draw is cancelled only where no other waits for it."""
        self._known = deque((t, c) for t, c in self._known if t != ticket)
        for key, tickets in list(self._tickets.items()):
            if ticket not in tickets:
                continue
            tickets.remove(ticket)
            if not tickets:
                leader = next(leader for leader, held in self._leaders.items() if held == key)
                del self._tickets[key], self._leaders[leader]
                self._engine.cancel(leader)

    def close(self) -> None:
        """Leaves the engine as it is: others may use it."""
