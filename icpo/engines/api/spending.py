"""What an API has charged, and budgets that are never exceeded."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from math import inf

from icpo.errors import BudgetError


@dataclass(frozen=True, slots=True)
class Spend:
    """Replies received, their tokens, and their price in dollars."""

    requests: int = 0
    prompt_tokens: int = 0
    generated_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.generated_tokens

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


class Budget:
    """Lets a request start only if its worst case fits.

    All calls come from one event loop. A request that does not fit waits for those in flight, which mostly
    cost less than their worst case. `spent` is what was charged; `unconfirmed` the most that lost replies and
    those without usage may have cost. The limits hold for both together.
    """

    def __init__(self, max_requests: int | None, max_tokens: int | None, max_cost: float | None) -> None:
        self.limits = {"max_requests": max_requests, "max_tokens": max_tokens, "max_cost": max_cost}
        self.spent = Spend()
        self.unconfirmed = Spend()
        self._reserved: list[Spend] = []
        self._changed = asyncio.Condition()

    def book(self, spend: Spend) -> None:
        """Adds what was charged."""
        self.spent += spend

    def book_unconfirmed(self, worst: Spend) -> None:
        """Adds what may have been charged."""
        self.unconfirmed += worst

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return any(limit is not None for limit in self.limits.values())

    @asynccontextmanager
    async def reserved(self, worst: Spend) -> AsyncIterator[None]:
        """Holds `worst` back while a request runs.

        Raises BudgetError when it does not fit though nothing else is in flight.
        """
        async with self._changed:
            while (limit := self._exceeded(worst)) is not None:
                if not self._reserved:
                    raise BudgetError(self._message(limit))
                await self._changed.wait()
            self._reserved.append(worst)
        try:
            yield
        finally:
            self._reserved.remove(worst)
            async with self._changed:
                self._changed.notify_all()

    def _exceeded(self, worst: Spend) -> str | None:
        total = sum(self._reserved, self.spent + self.unconfirmed + worst)
        values = (total.requests, total.tokens, total.cost)
        for (name, limit), value in zip(self.limits.items(), values, strict=True):
            if value > (inf if limit is None else limit):
                return name
        return None

    def _message(self, name: str) -> str:
        spent, lost = self.spent, self.unconfirmed
        unseen = f", and up to {lost.tokens} tokens and {lost.cost:.2f} dollars of which no usage is known"
        return (
            f"The budget engine.{name}={self.limits[name]} has no room for another request: "
            f"{spent.requests} replies, {spent.tokens} tokens and {spent.cost:.2f} dollars were spent"
            f"{unseen if lost.requests else ''}. What was finished is kept; raise engine.{name} and start "
            "the same command again to go on."
        )
