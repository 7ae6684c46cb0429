"""The samples of one request, over as many calls as it takes."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from icpo.backbones import Backbone
from icpo.engines.api import wire
from icpo.engines.api.calls import Blocked, Caller, PromptTooLong
from icpo.engines.api.refusals import Lengths
from icpo.engines.api.replies import Choice, Json, Reply, TokenCounts, shared, with_thoughts
from icpo.engines.api.spending import Budget, Spend
from icpo.engines.api.trimming import before_stop, without_prompt
from icpo.errors import EngineError
from icpo.types import Completion, FinishReason, SampleRequest

if TYPE_CHECKING:
    from icpo.engines.api.settings import OpenAISettings

log = logging.getLogger(__name__)
MOST_REPLIES = 100_000  # whose ids are remembered
TEMPLATE_TOKENS = 64  # what a chat template adds to a prompt, at most


class Filler:
    """Turns requests into completions.

    `notes` counts what is no fault but worth a word; `words` are unknown names of ends of answers, `models`
    the names of models other than the one asked for.
    """

    def __init__(
        self,
        settings: "OpenAISettings",
        backbone: Backbone,
        max_context_tokens: int,
        caller: Caller,
        budget: Budget,
    ) -> None:
        self.notes: Counter[str] = Counter()
        self.words: set[str] = set()
        self.models: set[str] = set()
        self._said: dict[str, int] = {}
        self._settings, self._backbone, self._caller, self._budget = settings, backbone, caller, budget
        self._max_context_tokens = max_context_tokens

    async def completions(self, request: SampleRequest, check: Callable[[], None]) -> list[Completion]:
        """All samples of a request.

        `check` is called once the budget has room, before anything is sent. A greedy one is sampled once, as
        vLLM's server wants it (no n beside a temperature of 0), and its completion given for each sample.
        """
        sampling, settings = request.sampling, self._settings
        if (extras := wire.needed_extras(sampling)) and not settings.supports_extras:
            raise EngineError(
                f"{settings.urls[0]} is said not to know {' and '.join(extras)}, which the protocol sets. "
                "Set engine.supports_extras=true for vLLM's server, or choose another protocol."
            )
        num_copies = request.num_samples if sampling.is_greedy else 1
        num_samples = request.num_samples // num_copies
        size = min(settings.samples_per_call or num_samples, num_samples)
        firsts = range(0, num_samples, size)
        worst = self._worst(request, size, sampling.max_tokens)
        async with self._budget.reserved(sum([worst] * len(firsts), Spend())):
            check()
            fills = (self._fill(request, min(size, num_samples - first), first, worst) for first in firsts)
            parts = await asyncio.gather(*fills, return_exceptions=True)
        found: list[Completion] = []
        for part in parts:  # all have ended: what was charged is booked before an error stops the rest
            if isinstance(part, BaseException):
                raise part
            found += part
        return found * num_copies

    async def _fill(
        self, request: SampleRequest, num_samples: int, first: int, worst: Spend
    ) -> list[Completion]:
        """Samples `first` and following; asks again for those that a reply lacks, and for them alone."""
        kept: list[Completion] = []
        max_tokens = request.sampling.max_tokens
        while (num_missing := num_samples - len(kept)) > 0:
            body = wire.body(
                request,
                self._backbone,
                self._settings,
                num_samples=num_missing,
                first=first + len(kept),
                max_tokens=max_tokens,
            )
            try:
                got = self._read(await self._caller.call(body, worst), body)
            except Blocked:
                self.notes["blocked_requests"] += 1
                got = [Completion("", 0, 0, FinishReason.CONTENT_FILTER)] * num_missing
            except PromptTooLong as refusal:
                room = self._room(refusal.lengths, max_tokens, request.sampling.min_room_tokens)
                if room is None:
                    num_prompt = refusal.lengths.prompt or self._max_context_tokens
                    return [Completion("", num_prompt, 0, FinishReason.PROMPT_TOO_LONG)] * num_samples
                max_tokens = room
                continue
            if len(got) < num_missing and got[0].finish_reason is not FinishReason.CONTENT_FILTER:
                self._caller.faults["fewer choices than asked"] += 1
            kept += got[:num_missing]
        return kept

    def _room(self, lengths: Lengths, max_tokens: int, min_room_tokens: int) -> int | None:
        """How many tokens to ask for next: what the server says is left, else the least that is of use.

        None where that was refused already, or where it says that less is left.
        """
        context = min(lengths.context or self._max_context_tokens, self._max_context_tokens)
        if lengths.prompt is not None:
            room = context - lengths.prompt
            if lengths.is_exact and min_room_tokens <= room < max_tokens:
                return room
            if lengths.is_exact and room < min_room_tokens:
                return None
        return min_room_tokens if min_room_tokens < max_tokens else None

    def _read(self, reply: Reply, body: Json) -> list[Completion]:
        """Choices as completions; the tokens of a reply are shared out by the lengths of its texts."""
        tokens = reply.tokens
        assert tokens is not None, "the caller counts where the server does not"
        choices = [self._trimmed(choice, body) for choice in reply.choices]
        shares = shared(tokens.completion, [len(one.thoughts + one.text) for one in choices])
        self.notes["reasoning_tokens"] += tokens.reasoning
        self._note_model(reply.model)
        self._note_repetition(reply)
        return [
            Completion(self._text(choice, tokens), tokens.prompt, share, choice.finish_reason, tokens.cached)
            for choice, share in zip(choices, shares, strict=True)
        ]

    def _trimmed(self, choice: Choice, body: Json) -> Choice:
        """A choice without the prompt before its text, and without what follows a stop string."""
        text = without_prompt(choice.text, body)
        if text != choice.text:
            self._note("echoed_prompts", "a server repeats the prompt before its answer, which is taken away")
        whole, text = text, before_stop(text, body)
        if text == whole:
            return replace(choice, text=text)
        self._note("ignored_stops", "a server writes on after a stop string, where its answer is cut off")
        return replace(choice, text=text, finish_reason=FinishReason.STOP, word=None)

    def _note(self, name: str, message: str) -> None:
        """Counts what the server should not do, and says so the first time."""
        if not self.notes[name]:
            log.warning(message)
        self.notes[name] += 1

    def _text(self, choice: Choice, tokens: TokenCounts) -> str:
        self.notes["thoughts_only_sequences"] += bool(choice.thoughts) and not choice.text.strip()
        if choice.word is not None and choice.word not in self.words:
            log.warning("a server calls the end of an answer %r, which is read as a natural one", choice.word)
            self.words.add(choice.word)
        return with_thoughts(choice, self._backbone.reasoning_end, has_hidden_thoughts=tokens.reasoning > 0)

    def _note_model(self, model: str | None) -> None:
        """Takes note of a model that calls itself otherwise: some servers answer for any name."""
        if model is not None and model != self._backbone.model_id and model not in self.models:
            log.warning(
                "backbone.model_id=%s is answered by a model that its server calls %s",
                self._backbone.model_id,
                model,
            )
            self.models.add(model)

    def _note_repetition(self, reply: Reply) -> None:
        """Takes note of a reply that came before: its samples are no new ones."""
        said = hash(reply.choices)
        if reply.id and self._said.get(reply.id) == said:
            self._note(
                "repeated_replies",
                "a server gives one reply to several calls, as a cache does: its samples are not independent",
            )
        if reply.id:
            self._said.setdefault(reply.id, said)
        if len(self._said) > MOST_REPLIES:
            del self._said[next(iter(self._said))]

    def _worst(self, request: SampleRequest, num_samples: int, max_tokens: int) -> Spend:
        num_prompt = len(request.prompt.raw.encode()) + TEMPLATE_TOKENS  # no token is shorter than a byte
        return self._settings.spend(num_prompt, max_tokens * num_samples)
