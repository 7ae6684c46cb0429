"""Calls to an OpenAI-compatible server: bounded concurrency, retries, and one booking for each charge."""

import asyncio
import logging
import random
from collections import Counter
from types import ModuleType
from typing import TYPE_CHECKING
from uuid import uuid4

from icpo.engines.api import wire
from icpo.engines.api.spending import Budget, Spend
from icpo.errors import EngineError
from icpo.types import Completion

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

    from icpo.engines.api.settings import OpenAISettings

log = logging.getLogger(__name__)
RETRIED_STATUS = (408, 409, 425, 429)
WAYS_OUT = {
    401: "Check the key in the environment variable that engine.api_key_env names.",
    403: "Check that the key may use this model.",
    404: "Check backbone.model_id and engine.base_url.",
}


class PromptTooLong(Exception):
    """The server refuses a prompt for its length: `num_prompt_tokens`, or None where it does not say."""

    def __init__(self, num_prompt_tokens: int | None) -> None:
        super().__init__(num_prompt_tokens)
        self.num_prompt_tokens = num_prompt_tokens


class Caller:
    """Sends request bodies; all calls come from one event loop. `faults` counts what went wrong by kind."""

    def __init__(self, openai: ModuleType, settings: "OpenAISettings", budget: Budget) -> None:
        for chatty in ("httpx", "httpx2"):  # below openai, by its version: a line for each of 200,000 calls
            logging.getLogger(chatty).setLevel(logging.WARNING)
        self.faults: Counter[str] = Counter()
        self._openai = openai
        self._settings = settings
        self._budget = budget
        self._key = settings.key()
        self._client: AsyncOpenAI = openai.AsyncOpenAI(
            api_key=self._key, base_url=settings.base_url, timeout=settings.timeout_seconds, max_retries=0
        )
        self._slots = asyncio.Semaphore(settings.max_concurrency)
        self._resume_at = (
            0.0  # no call starts before this time of the loop's: a server asked to be left alone
        )

    async def call(self, body: wire.Json, worst: Spend) -> list[Completion]:
        """The completions of one reply; what a retry can mend is retried.

        A reply that was lost on its way may have been charged: it is booked as `worst`.
        Raises PromptTooLong, or EngineError when retries are of no use or used up.
        """
        headers = {"Idempotency-Key": str(uuid4())}  # one for all tries: a server that knows it charges once
        num_tries = self._settings.max_retries + 1
        for attempt in range(num_tries):
            async with self._slots:
                await asyncio.sleep(self._resume_at - asyncio.get_running_loop().time())
                try:
                    return await self._post(body, headers)
                except self._openai.APIStatusError as error:
                    fault = self._refused(error)
                except (
                    self._openai.APIConnectionError,
                    asyncio.TimeoutError,
                    ValueError,
                    wire.ReplyError,
                ) as error:
                    fault = self._lost(error, worst)
            self.faults[fault] += 1
            log.warning("%s: try %d of %d: %s", self._settings.base_url, attempt + 1, num_tries, fault)
            if attempt + 1 < num_tries:
                await asyncio.sleep(self._backoff_seconds(attempt))
        raise EngineError(
            f"{self._settings.base_url} failed {num_tries} times for one request, at last with: {fault}. "
            "What was finished is kept: start the same command again later, with a smaller "
            "engine.max_concurrency or a larger engine.max_retries."
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _post(self, body: wire.Json, headers: dict[str, str]) -> list[Completion]:
        path = "/chat/completions" if "messages" in body else "/completions"
        call = self._client.post(path, cast_to=object, body=body, options={"headers": headers})
        reply = await asyncio.wait_for(call, self._settings.timeout_seconds)
        completions = wire.read_completions(reply)
        num_prompt = max((c.num_prompt_tokens for c in completions), default=0)
        self._budget.book(self._settings.spend(num_prompt, sum(c.num_completion_tokens for c in completions)))
        return completions

    def _lost(self, error: Exception, worst: Spend) -> str:
        """The kind of a fault that left no reply; one that may have been charged is booked."""
        cause = type(error.__cause__).__name__  # by name: the package has changed the library below it
        if cause in ("ConnectError", "ConnectTimeout"):
            return "no connection"
        self._budget.book(worst)
        if isinstance(error, asyncio.TimeoutError | self._openai.APITimeoutError):
            return "timeout"
        return "connection lost" if isinstance(error, self._openai.APIConnectionError) else "broken reply"

    def _refused(self, error: "APIStatusError") -> str:
        """The kind of a refusal that is worth a retry; raises for all others."""
        status, message = error.status_code, str(error).replace(self._key, "***")
        if wire.is_prompt_too_long(status, message):
            raise PromptTooLong(wire.prompt_tokens_in(message)) from None
        if (status not in RETRIED_STATUS and status < 500) or "insufficient_quota" in message:
            way_out = WAYS_OUT.get(status, "Check the engine's settings and the account's limits.")
            raise EngineError(f"{self._settings.base_url} refuses: {message[:500]} {way_out}") from None
        wait_seconds = wire.retry_after_seconds(error.response.headers) or 0.0
        if wait_seconds > self._settings.max_wait_seconds:
            raise EngineError(
                f"{self._settings.base_url} asks to come back in {wait_seconds:.0f} s, more than "
                f"engine.max_wait_seconds={self._settings.max_wait_seconds:g}. What was finished is kept: "
                "start the same command again then, or raise the limit to wait."
            ) from None
        self._resume_at = max(self._resume_at, asyncio.get_running_loop().time() + wait_seconds)
        return f"status {status}"

    def _backoff_seconds(self, attempt: int) -> float:
        longest = min(self._settings.max_wait_seconds, self._settings.first_wait_seconds * 2**attempt)
        return random.uniform(longest / 2, longest)  # spread, or all that failed together come back together
