"""Calls to a server: bounded concurrency, retries and accounting."""

import asyncio
import logging
import random
from collections import Counter
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING
from uuid import uuid4

from icpo.engines.api import faults, replies, wire
from icpo.engines.api.counting import TokenCounter
from icpo.engines.api.refusals import Lengths, Verdict, lengths_in, retry_after_seconds, verdict, way_out
from icpo.engines.api.replies import Json, Reply, TokenCounts
from icpo.engines.api.servers import Server, Servers
from icpo.engines.api.spending import Budget, Spend
from icpo.engines.api.transport import send
from icpo.errors import EngineError
from icpo.types import FinishReason

if TYPE_CHECKING:
    from icpo.engines.api.settings import OpenAISettings

log = logging.getLogger(__name__)


class PromptTooLong(Exception):
    """The server refuses a prompt for its length."""

    def __init__(self, lengths: Lengths) -> None:
        super().__init__(lengths)
        self.lengths = lengths


class Blocked(Exception):
    """A filter of the provider refuses the prompt."""


class Caller:
    """Sends request bodies from one event loop and counts faults."""

    def __init__(
        self, openai: ModuleType, settings: "OpenAISettings", budget: Budget, counter: TokenCounter
    ) -> None:
        for chatty in ("httpx", "httpx2"):  # below openai, by its version: a line for each of 200,000 calls
            logging.getLogger(chatty).setLevel(logging.WARNING)
        self.faults: Counter[str] = Counter()
        self.num_uncounted = 0
        self._openai, self._settings, self._budget, self._counter = openai, settings, budget, counter
        self._secrets = settings.secrets()
        self._servers = Servers(
            [Server(url, settings.client(openai, url)) for url in settings.urls],
            settings.max_concurrency,
            settings.requests_per_minute,
        )

    async def call(self, body: Json, worst: Spend) -> Reply:
        """One reply; what a retry can cure is retried.

        A reply that was lost on its way may have been charged: up to `worst` is booked as unconfirmed.
        Raises PromptTooLong or Blocked, or EngineError when retries are of no use or used up.
        """
        headers = {"Idempotency-Key": str(uuid4())}  # one for all tries: a server that knows it charges once
        num_tries = self._settings.max_retries + 1
        for attempt in range(num_tries):
            async with self._servers.one() as server:
                try:
                    reply = await self._post(server, body, headers, worst)
                    self._servers.went_well(server)
                    return reply
                except self._openai.APIStatusError as error:
                    wait = retry_after_seconds(error.response.headers)
                    fault = self._refused(server, error.status_code, error.body, wait)
                except faults.ErrorInside as error:
                    fault = self._refused(server, error.status, error.error, None)
                except (
                    self._openai.APIError,
                    asyncio.TimeoutError,
                    ValueError,
                    RecursionError,  # of JSON nested too deeply
                    faults.ReplyError,
                ) as error:
                    fault = self._lost(error, worst)
                except faults.UnknownShape as error:
                    raise EngineError(
                        f"{server.url} sends {error}. This client does not know how to read it."
                    ) from None
                self._servers.failed(
                    server, self._settings.first_wait_seconds, self._settings.max_wait_seconds
                )
            self.faults[fault.partition(":")[0]] += 1
            log.warning("%s: try %d of %d: %s", server.url, attempt + 1, num_tries, fault)
            if attempt + 1 < num_tries:
                first, most = self._settings.first_wait_seconds, self._settings.max_wait_seconds
                longest = min(most, first * 2**attempt)  # spread: all that failed would come back together
                await asyncio.sleep(random.uniform(longest / 2, longest))
        raise EngineError(self._gave_up(server, num_tries, fault))

    async def close(self) -> None:
        """Closes the connections."""
        await self._servers.close()

    async def _post(self, server: Server, body: Json, headers: dict[str, str], worst: Spend) -> Reply:
        sending = send(self._openai, server.client, body, headers)
        given = await asyncio.wait_for(sending, self._settings.timeout_seconds)
        tokens = replies.token_counts(given) if isinstance(given, dict) else None
        if tokens is not None:
            self._budget.book(self._settings.spend(tokens.prompt, tokens.completion))
        reply = replies.read_reply(given)
        if tokens is not None:
            return reply
        if all(choice.finish_reason is FinishReason.CONTENT_FILTER for choice in reply.choices):
            return replace(reply, tokens=TokenCounts(0, 0, 0, 0))
        return self._counted(reply, body, worst)

    def _counted(self, reply: Reply, body: Json, worst: Spend) -> Reply:
        """A reply without usage, its tokens counted here."""
        self.num_uncounted += 1
        if self.num_uncounted == 1:
            log.warning(
                "replies name no usage: tokens are %s%s",
                self._counter.method,
                "; a budget cannot see what they cost and takes the worst case" * self._budget.is_limited,
            )
        prompt = self._counter.count(wire.prompt_text(body))
        completion = sum(self._counter.count(choice.thoughts + choice.text) for choice in reply.choices)
        if self._budget.is_limited:
            self._budget.book_unconfirmed(worst)
        else:
            self._budget.book(self._settings.spend(prompt, completion))
        return replace(reply, tokens=TokenCounts(prompt, 0, completion, 0))

    def _lost(self, error: Exception, worst: Spend) -> str:
        """What kind of fault left no reply; one that may have been charged is booked as unconfirmed."""
        cause = type(error.__cause__).__name__  # by name: the package has changed the library below it
        if cause in ("ConnectError", "ConnectTimeout"):
            return "no connection"
        if isinstance(error, faults.ReplyError):
            if self._settings.stream:  # it may have been cut off before its usage
                self._budget.book_unconfirmed(worst)
            return self._masked(error)  # it came whole: what it cost, its usage says
        self._budget.book_unconfirmed(worst)
        if isinstance(error, asyncio.TimeoutError | self._openai.APITimeoutError):
            return "timeout"
        if isinstance(error, self._openai.APIError):
            return f"connection lost: {cause}"
        return f"broken reply: {faults.first_words(getattr(error, 'doc', error))}"

    def _refused(self, server: Server, status: int, error: object, wait_seconds: float | None) -> str:
        """What kind of refusal is worth a retry; raises for all others."""
        said = f"status {status}: {faults.first_words(self._masked(faults.error_message(error)), 500)}"
        match verdict(status, str(error)):
            case Verdict.TOO_LONG:
                raise PromptTooLong(lengths_in(str(error))) from None
            case Verdict.BLOCKED:
                raise Blocked(said) from None
            case Verdict.FINAL:
                raise EngineError(f"{server.url} refuses: {said}. {way_out(status, str(error))}") from None
        if (wait_seconds or 0) > self._settings.max_wait_seconds:
            raise EngineError(
                f"{server.url} asks to come back in {wait_seconds:.0f} s, more than "
                f"engine.max_wait_seconds={self._settings.max_wait_seconds:g}. What was finished is kept: "
                "start the same command again then, or raise the limit to wait."
            ) from None
        self._servers.leave_alone(server, wait_seconds or 0)
        return faults.first_words(said)

    def _gave_up(self, server: Server, num_tries: int, fault: str) -> str:
        kind = fault.partition(":")[0]
        advice = {
            "no connection": "Does a server listen there? Check engine.base_url, and start the server first.",
            "no JSON": "Is that the address of the API? Check engine.base_url, which mostly ends in /v1.",
        }.get(
            kind,
            "What was finished is kept: start the same command again later, with a smaller "
            "engine.max_concurrency or a larger engine.max_retries.",
        )
        return f"{server.url} failed {num_tries} times for one request, at last with: {fault}. {advice}"

    def _masked(self, message: object) -> str:
        text = str(message)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
