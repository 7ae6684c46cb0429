"""The addresses of one model; the least busy one is next."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True, eq=False)
class Server:
    """One address; no call starts there before `resume_at`."""

    url: str
    client: Any  # openai.AsyncOpenAI
    num_open: int = 0
    num_failed: int = 0
    resume_at: float = 0.0


class Servers:
    """Bounds and spaces the calls, and spreads them over addresses."""

    def __init__(
        self, servers: Sequence[Server], max_concurrency: int, requests_per_minute: float | None
    ) -> None:
        self.servers = tuple(servers)
        self._slots = asyncio.Semaphore(max_concurrency)
        self._spacing_seconds = 0.0 if requests_per_minute is None else 60 / requests_per_minute
        self._next_start = 0.0

    @asynccontextmanager
    async def one(self) -> AsyncIterator[Server]:
        """The server of one call, once it may start."""
        async with self._slots:
            server = min(self.servers, key=lambda s: (s.resume_at > _now(), s.num_open))
            server.num_open += 1
            try:
                while (wait := max(server.resume_at - _now(), 0)) > 0:
                    await asyncio.sleep(wait)
                await self._pace()
                yield server
            finally:
                server.num_open -= 1

    def went_well(self, server: Server) -> None:
        """Forgets the failures of a server."""
        server.num_failed = 0

    def failed(self, server: Server, first_wait: float, longest_wait: float) -> None:
        """Leaves a server alone for a time that doubles."""
        if _now() >= server.resume_at:
            server.resume_at = _now() + min(first_wait * 2**server.num_failed, longest_wait)
            server.num_failed += 1

    def leave_alone(self, server: Server, seconds: float) -> None:
        """Starts nothing at a server for so long, as it asked."""
        server.resume_at = max(server.resume_at, _now() + seconds)

    async def close(self) -> None:
        """Closes the connections."""
        for server in self.servers:
            await server.client.close()

    async def _pace(self) -> None:
        start = max(_now(), self._next_start)
        self._next_start = start + self._spacing_seconds
        await asyncio.sleep(start - _now())


def _now() -> float:
    return asyncio.get_running_loop().time()
