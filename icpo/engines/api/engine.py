"""The engine behind `openai`: requests in, completions out, by calls that run beside the caller's thread."""

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING, Any

from icpo.backbones import Backbone, ChatTemplate
from icpo.engines.api import wire
from icpo.engines.api.calls import Caller, PromptTooLong
from icpo.engines.api.spending import Budget, Spend
from icpo.errors import EngineError
from icpo.types import Completion, FinishReason, SampleRequest

if TYPE_CHECKING:
    from icpo.engines.api.settings import OpenAISettings

log = logging.getLogger(__name__)
Answers = list[tuple[int, list[Completion]]]
POLL_SECONDS = 1.0
TEMPLATE_TOKENS = 64  # what a chat template adds to a prompt, at most


class OpenAIEngine:
    """A continuous engine: an event loop in a thread of its own keeps a bounded number of calls in flight.

    An error that no retry can mend stops it cleanly: nothing new is sent, what is in flight is still handed
    out, then `finished` raises. How long a prompt is only the server knows: it is told so by the server's
    refusal, and then asks for what room the prompt leaves. A greedy request is drawn once, as vLLM's server
    wants it (no n beside a temperature of 0), and its completion given for each sample.
    """

    block_questions = None

    def __init__(
        self, openai: ModuleType, settings: "OpenAISettings", backbone: Backbone, max_context_tokens: int
    ) -> None:
        options = "".join(f" {key}={value}" for key, value in backbone.template_options)
        template = backbone.chat_template.value
        served = f"{backbone.model_id}@{backbone.revision or 'served'}"
        self.identity = f"openai {wire.address(settings.base_url)} {served} template={template}{options}"
        self._settings = settings
        self._backbone = backbone
        self._max_context_tokens = max_context_tokens
        self._budget = Budget(settings.max_requests, settings.max_tokens, settings.max_cost)
        self._caller = Caller(openai, settings, self._budget)
        self._futures: dict[int, Future[list[Completion]]] = {}
        self._started: set[int] = set()
        self._outcomes: Queue[tuple[int, Future[list[Completion]]]] = Queue()
        self._error: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="openai-engine", daemon=True)
        self._thread.start()

    @property
    def spent(self) -> Spend:
        """What was charged so far."""
        return self._budget.spent

    @property
    def faults(self) -> Mapping[str, int]:
        """How often each kind of fault was met and mended."""
        return self._caller.faults

    def accounting(self) -> dict[str, Any]:
        """What was charged since the start: a prompt once a reply, hence without n once a drawn sample."""
        spent = self.spent
        return {
            "requests": spent.requests,
            "prompt_tokens": spent.prompt_tokens,
            "generated_tokens": spent.generated_tokens,
            "cost_dollars": spent.cost,
        }

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request; after an error nothing is started any more."""
        if ticket in self._futures:
            raise ValueError(f"ticket {ticket} is in flight already")
        if self._error is not None:
            return
        future = asyncio.run_coroutine_threadsafe(self._answer(ticket, request), self._loop)
        self._futures[ticket] = future
        future.add_done_callback(lambda done: self._outcomes.put((ticket, done)))

    def finished(self) -> Answers:
        """The requests that ended since the last call; waits a second for one, then says [].

        So a caller who is told to stop can do so while a server thinks for minutes. Raises EngineError or
        BudgetError once all that was in flight has been handed out.
        """
        answers: Answers = []
        with suppress(Empty):
            while self._futures and not answers:
                answers += self._settle(*self._outcomes.get(timeout=POLL_SECONDS))
            while True:
                answers += self._settle(*self._outcomes.get_nowait())
        if self._error is not None and not self._futures and not answers:
            raise self._error
        return answers

    def cancel(self, ticket: int) -> None:
        """Drops a request: it will not be reported as finished."""
        future = self._futures.pop(ticket, None)
        if future is not None:
            future.cancel()

    def close(self) -> None:
        """Drops what is in flight, closes the connections and ends the thread."""
        if not self._thread.is_alive():
            return
        for ticket in list(self._futures):
            self.cancel(ticket)
        asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        log.info("openai engine: spent %s, faults %s", self.spent, dict(self.faults))

    async def _shut_down(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._caller.close()

    def _settle(self, ticket: int, future: "Future[list[Completion]]") -> Answers:
        if self._futures.get(ticket) is not future:
            return []  # cancelled by the caller
        del self._futures[ticket]
        error = future.exception()
        if error is None:
            return [(ticket, future.result())]
        self._error = self._error or error
        for waiting in self._futures.keys() - self._started:
            self.cancel(waiting)
        return []

    async def _answer(self, ticket: int, request: SampleRequest) -> list[Completion]:
        sampling = request.sampling
        if wire.needs_extras(sampling) and not self._settings.supports_extras:
            raise EngineError(
                f"{self._settings.base_url} is said not to know min_tokens and repetition_penalty, which "
                "the protocol asks for. Set engine.supports_extras=true for vLLM's server, or choose "
                "another protocol."
            )
        num_copies = request.num_samples if sampling.is_greedy else 1
        num_samples = request.num_samples // num_copies
        num_calls = 1 if self._settings.supports_n else num_samples
        num_prompt = len(request.prompt.raw.encode()) + TEMPLATE_TOKENS  # no token is shorter than a byte
        worst = self._settings.spend(num_prompt, sampling.max_tokens * num_samples // num_calls)
        async with self._budget.reserved(sum([worst] * num_calls, Spend())):
            self._started.add(ticket)
            fills = (self._fill(request, num_samples // num_calls, i, worst) for i in range(num_calls))
            parts = await asyncio.gather(*fills, return_exceptions=True)
        completions = []
        for part in parts:  # all have ended: what was charged is booked before an error stops the rest
            if isinstance(part, BaseException):
                raise part
            completions += part
        return completions * num_copies

    async def _fill(
        self, request: SampleRequest, num_samples: int, first: int, worst: Spend
    ) -> list[Completion]:
        """Samples `first` and following; asks again for those that a reply lacks, and for them alone."""
        kept: list[Completion] = []
        max_tokens, num_silent = request.sampling.max_tokens, 0
        while (num_missing := num_samples - len(kept)) > 0:
            try:
                body = self._body(request, num_missing, first + len(kept), max_tokens)
                got = await self._caller.call(body, worst)
            except PromptTooLong as refusal:
                num_prompt = refusal.num_prompt_tokens or self._max_context_tokens
                room = self._max_context_tokens - num_prompt
                if not request.sampling.min_room_tokens <= room < max_tokens:
                    return [Completion("", num_prompt, 0, FinishReason.PROMPT_TOO_LONG)] * num_samples
                max_tokens = room
                continue
            if len(got) < num_missing:
                self._caller.faults["fewer choices than asked" if got else "no choices"] += 1
            if not got and (num_silent := num_silent + 1) > self._settings.max_retries:
                # A server that stays silent on a prompt has blocked it: an outcome, not a fault.
                got = [Completion("", 0, 0, FinishReason.CONTENT_FILTER)] * num_missing
            kept += got[:num_missing]
        return kept

    def _body(self, request: SampleRequest, num_samples: int, first: int, max_tokens: int) -> wire.Json:
        settings, is_chat = self._settings, self._backbone.chat_template is ChatTemplate.OWN
        body: wire.Json = {"model": self._backbone.model_id, settings.max_tokens_field: max_tokens}
        body |= wire.chat_fields(request.prompt) if is_chat else {"prompt": request.prompt.raw}
        body |= wire.sampling_fields(request.sampling, with_extras=settings.supports_extras)
        if num_samples > 1:
            body["n"] = num_samples
        if settings.supports_seed:
            body["seed"] = (request.seed + first) % 2**31
        options: dict[str, Any] = dict(self._backbone.template_options) if is_chat else {}
        if options and settings.template_options_field:
            options = {settings.template_options_field: options}
        return body | options
