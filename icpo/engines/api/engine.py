"""The engine behind `openai`: requests in, completions out."""

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING, Any

from icpo.backbones import Backbone
from icpo.engines.api import wire
from icpo.engines.api.calls import Caller
from icpo.engines.api.counting import TokenCounter
from icpo.engines.api.filling import Filler
from icpo.engines.api.silence import Answers, Silence
from icpo.engines.api.spending import Budget, Spend
from icpo.types import Completion, SampleRequest

if TYPE_CHECKING:
    from icpo.engines.api.settings import OpenAISettings

log = logging.getLogger(__name__)
POLL_SECONDS = 1.0


class OpenAIEngine:
    """A continuous engine: an event loop keeps calls in flight.

    It runs in a thread of its own, and the number of calls is bounded. An error that no retry cures stops it
    cleanly: nothing new is sent, what is in flight is still handed out, then `finished` raises. How long a
    prompt is only the server knows: where it refuses one for its length, the engine asks for the room that is
    left. Answers without a text are handed out only once others have one (`Silence`). The address is no part
    of the identity: the same model elsewhere goes on with a cell.
    """

    block_questions = None

    def __init__(
        self, openai: ModuleType, settings: "OpenAISettings", backbone: Backbone, max_context_tokens: int
    ) -> None:
        options = "".join(f" {key}={value}" for key, value in backbone.template_options)
        template = f"{backbone.chat_template.value}{options}{backbone.without_system_role}"
        self.identity = f"openai {backbone.model_id}@{backbone.revision or 'served'} template={template}"
        self.addresses = tuple(wire.address(url) for url in settings.urls)
        self._budget = Budget(settings.max_requests, settings.max_tokens, settings.max_cost)
        self._counter = TokenCounter(backbone)
        self._caller = Caller(openai, settings, self._budget, self._counter)
        self._filler = Filler(settings, backbone, max_context_tokens, self._caller, self._budget)
        self._silence = Silence(backbone.reasoning_end)
        self._futures: dict[int, Future[list[Completion]]] = {}
        self._outcomes: Queue[tuple[int, Future[list[Completion]]]] = Queue()
        self._error: Exception | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="openai-engine", daemon=True)
        self._thread.start()

    @property
    def spent(self) -> Spend:
        """What was charged so far."""
        return self._budget.spent

    @property
    def faults(self) -> Mapping[str, int]:
        """How often each kind of fault was met and cured."""
        return self._caller.faults

    def accounting(self) -> dict[str, Any]:
        """What was charged since the start; a prompt counts per reply.

        Hence once per sample where the server takes no n. What is not zero is added: the most that lost
        replies may have cost, replies whose tokens were counted here, tokens of thoughts, prompts that were
        echoed, answers that went on after a stop string, replies that came twice, ends of answers that the
        server calls by names unknown to us, and names of models other than the one asked for.
        """
        spent, lost = self.spent, self._budget.unconfirmed
        extra = {
            "unconfirmed_requests": lost.requests,
            "unconfirmed_tokens": lost.tokens,
            "unconfirmed_cost_dollars": lost.cost,
            "self_counted_requests": self._caller.num_uncounted,
            "unknown_finish_reasons": sorted(self._filler.words),
            "served_models": sorted(self._filler.models),
            **self._filler.notes,
        }
        return {
            "requests": spent.requests,
            "prompt_tokens": spent.prompt_tokens,
            "generated_tokens": spent.generated_tokens,
            "cost_dollars": spent.cost,
            **{name: value for name, value in extra.items() if value},
        }

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request; after an error nothing is started any more."""
        if ticket in self._futures:
            raise ValueError(f"ticket {ticket} is in flight already")
        if self._error is not None:
            return
        future = asyncio.run_coroutine_threadsafe(self._answer(request), self._loop)
        self._futures[ticket] = future
        future.add_done_callback(lambda done: self._outcomes.put((ticket, done)))

    def finished(self) -> Answers:
        """The requests that ended since the last call.

        Waits a second for one, then returns []. So a caller that receives a signal can stop while a server
        thinks. Raises EngineError or BudgetError once all that was in flight has been handed out.
        """
        answers: Answers = []
        with suppress(Empty):
            while self._futures and not answers:
                answers += self._settle(*self._outcomes.get(timeout=POLL_SECONDS))
            while True:
                answers += self._settle(*self._outcomes.get_nowait())
        if not self._futures:
            answers += self._silence.released(self._filler.notes["thoughts_only_sequences"])
        if self._error is not None and not self._futures and not answers:
            raise self._error
        return answers

    def cancel(self, ticket: int) -> None:
        """Drops a request: it will not be reported as finished."""
        self._silence.drop(ticket)
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
        log.info("openai engine: %s, faults %s", self.accounting(), dict(self.faults))

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
            return self._silence.passed(ticket, future.result())
        return []  # kept by `_answer`

    async def _answer(self, request: SampleRequest) -> list[Completion]:
        try:
            return await self._filler.completions(request, self._raise_earlier_error)
        except Exception as error:
            self._error = self._error or error
            raise

    def _raise_earlier_error(self) -> None:
        """Keeps a request that waited for the budget from being sent after another one failed."""
        if self._error is not None:
            raise self._error
