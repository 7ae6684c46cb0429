"""The vLLM engine: requests join and leave the running batch."""

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from icpo.engines.sources import Source
from icpo.engines.tokenizers import end_tokens, generation_ends, tokenize, tokenize_text
from icpo.engines.vllm.admission import Admission
from icpo.engines.vllm.failures import died
from icpo.engines.vllm.log import process_log
from icpo.engines.vllm.process import VllmProcess
from icpo.engines.vllm.sampling import sampled_completion, sampling_parameters
from icpo.engines.vllm.scoring import scored_completion, scored_prompts, scoring_parameters
from icpo.errors import EngineError
from icpo.types import Completion, FinishReason, SampleRequest, Sampling

if TYPE_CHECKING:
    from icpo.backbones import Backbone
    from icpo.engines.vllm.settings import Vllm

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Pending:
    """A request on its way: its completions by sample, and the names under which vLLM knows its prompts.

    A request to score has a prompt for each text, others have one. A greedy request is sampled once, as vLLM
    wants it, and its completion handed out `num_copies` times.
    """

    request: SampleRequest
    num_prompt_tokens: int
    prompts: list[list[int]]
    sampling: Sampling
    num_copies: int = 1
    completions: dict[int, Completion] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Totals:
    """What the engine did since it started."""

    requests: int = 0
    sequences: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    generated_tokens: int = 0
    busy_seconds: float = 0.0
    away_seconds: float = 0.0
    idle_seconds: float = 0.0


class VllmEngine:
    """Completes request by request; samples depend on what else ran."""

    block_questions = None

    def __init__(
        self,
        settings: "Vllm",
        backbone: "Backbone",
        source: Source,
        tokenizer: Any,
        vllm: ModuleType,
        arguments: Mapping[str, Any],
        max_context_tokens: int,
    ) -> None:
        self._settings, self._backbone, self._tokenizer, self._vllm = settings, backbone, tokenizer, vllm
        self._max_context_tokens = max_context_tokens
        self.can_score = "logits" not in str(settings.options.get("logprobs_mode"))
        self._end_ids = end_tokens(tokenizer, backbone, generation_ends(source.folder))
        self._process = VllmProcess(vllm, arguments, backbone, in_process=settings.in_process)
        self._admission = Admission(self._process.num_cache_tokens, settings.max_num_seqs)
        self.identity = settings.identity(vllm.__version__, source.revision, backbone, max_context_tokens)
        self._waiting: dict[int, _Pending] = {}
        self._running: dict[int, _Pending] = {}
        self._tickets: dict[str, int] = {}
        self._ready: deque[tuple[int, list[Completion]]] = deque()
        self._num_named = 0
        self._totals = _Totals()
        self._left_at: float | None = None
        self._idle_share = 0.0
        log.info("engine started: %s", self.identity)

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queue a request until the cache has room for it.

        A prompt that leaves less than `min_room_tokens`, or too little for a text to score, is answered with
        `prompt_too_long` and no text.
        """
        prompt = tokenize(self._tokenizer, self._backbone, request.prompt)
        asked = self._to_score(request, prompt) if request.scored else self._to_sample(request, prompt)
        if asked is None:
            refused = Completion("", len(prompt), 0, FinishReason.PROMPT_TOO_LONG)
            self._ready.append((ticket, [refused] * request.num_samples))
            return
        self._waiting[ticket] = asked
        self._admit()

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """Requests that ended; waits for one. Raises EngineError if it died."""
        start = time.perf_counter()
        if self._left_at is not None and self._running:
            self._totals.away_seconds += start - self._left_at
            self._totals.idle_seconds += (start - self._left_at) * self._idle_share
        while not self._ready:
            self._admit()
            if not self._running:
                raise EngineError("The engine was asked for completions, but nothing is in flight.")
            for output in self._guarded(self._process.step):
                self._take(output)
            self._admission.preempted(self._process.new_preemptions())
        done = list(self._ready)
        self._ready.clear()
        self._admit()
        self._left_at = time.perf_counter()
        self._idle_share = max(1 - self._admission.num_sequences / self._settings.max_num_seqs, 0.0)
        self._totals.busy_seconds += self._left_at - start
        return done

    def cancel(self, ticket: int) -> None:
        """Drops a request, running or not: it will not be reported."""
        self._ready = deque(item for item in self._ready if item[0] != ticket)
        self._waiting.pop(ticket, None)
        if (asked := self._running.pop(ticket, None)) is not None:
            self._guarded(self._process.engine.abort_request, list(asked.names))
            self._forget(ticket, asked)

    def close(self) -> None:
        """Ends the engine's processes and waits until their memory is free."""
        self._process.close()

    def accounting(self) -> dict[str, Any]:
        """What was done since the start, and on what.

        Seconds are of wall time, memory is in GB. `away_seconds` is time spent outside the engine while
        requests were running; `idle_seconds` is that time weighted by the share of its places that had
        nothing to do. Weights and the most cache in use at once say what the work needs; the peak of the
        devices says what vLLM reserved.
        """
        totals = {name: getattr(self._totals, name) for name in self._totals.__slots__}
        return {"max_num_seqs": self._settings.max_num_seqs, **self._process.accounting(), **totals}

    def forget_peaks(self) -> None:
        """Reset the peak of the cache."""
        self._process.forget_peaks()

    def _to_sample(self, request: SampleRequest, prompt: Sequence[int]) -> _Pending | None:
        """A request to sample; None if its prompt leaves too little room."""
        sampling, room = request.sampling, self._max_context_tokens - len(prompt)
        if room < sampling.min_room_tokens:
            return None
        sampling = sampling.limited(room)
        num_copies = request.num_samples if sampling.is_greedy else 1
        sampled = replace(request, num_samples=request.num_samples // num_copies)
        return _Pending(sampled, len(prompt), [list(prompt)], sampling, num_copies)

    def _to_score(self, request: SampleRequest, prompt: Sequence[int]) -> _Pending | None:
        """A request to score texts, tokenised apart from what precedes; None if one does not fit."""
        before = [*prompt, *tokenize_text(self._tokenizer, request.score_after)]
        texts = [tokenize_text(self._tokenizer, text) for text in request.scored]
        prompts = scored_prompts(before, texts, self._max_context_tokens)
        return _Pending(request, len(before), prompts, request.sampling.limited(1)) if prompts else None

    def _admit(self) -> None:
        """Starts waiting requests, first come first served, while the cache has room."""
        while self._waiting:
            ticket, asked = next(iter(self._waiting.items()))
            request = asked.request
            num_tokens = sum(map(len, asked.prompts))
            if not self._admission.admits(
                ticket, request.purpose, num_tokens, asked.sampling, request.num_samples
            ):
                return
            self._running[ticket] = self._waiting.pop(ticket)
            self._start(ticket, asked)

    def _start(self, ticket: int, asked: _Pending) -> None:
        """Hands a request to vLLM, prompt by prompt."""
        request = asked.request
        if request.scored:
            parameters = scoring_parameters(self._vllm)
        else:
            parameters = sampling_parameters(
                self._vllm, asked.sampling, request.num_samples, request.seed, self._end_ids
            )
            self._totals.sequences += request.num_samples
        for index, prompt in enumerate(asked.prompts):
            self._num_named += 1
            name = str(self._num_named)
            asked.names[name] = index
            self._tickets[name] = ticket
            self._guarded(self._process.engine.add_request, name, {"prompt_token_ids": prompt}, parameters)
            self._totals.requests += 1
            self._totals.prompt_tokens += len(prompt)

    def _take(self, output: Any) -> None:
        """Takes note of what vLLM reports of a request; a report of a cancelled one is passed over."""
        ticket = self._tickets.get(output.request_id)
        if ticket is None:
            return
        asked = self._running[ticket]
        if asked.request.scored:
            self._take_scored(asked, output)
        else:
            self._take_samples(asked, output)
        if len(asked.completions) == asked.request.num_samples:
            del self._running[ticket]
            self._forget(ticket, asked)
            completions = [asked.completions[i] for i in range(asked.request.num_samples)]
            self._ready.append((ticket, completions * asked.num_copies))

    def _take_samples(self, asked: _Pending, output: Any) -> None:
        num_cached = output.num_cached_tokens or 0
        for sample in output.outputs:
            if sample.finish_reason is None:
                continue
            completion = sampled_completion(sample, asked.num_prompt_tokens, num_cached)
            asked.completions[sample.index] = completion
            self._admission.learn(asked.request.purpose, completion.num_completion_tokens)
            self._totals.generated_tokens += completion.num_completion_tokens
        if len(asked.completions) == asked.request.num_samples:
            self._totals.cached_prompt_tokens += num_cached

    def _take_scored(self, asked: _Pending, output: Any) -> None:
        index = asked.names[output.request_id]
        asked.completions[index] = scored_completion(
            asked.request.scored[index], asked.num_prompt_tokens, asked.prompts[index], output.prompt_logprobs
        )

    def _forget(self, ticket: int, asked: _Pending) -> None:
        """Frees what a request held, and its names."""
        for name in asked.names:
            del self._tickets[name]
        self._admission.release(ticket)

    def _guarded(self, call: Any, *arguments: Any) -> Any:
        """A call into vLLM whose failure means that the engine died."""
        try:
            return call(*arguments)
        except self._process.deadly as error:
            self._process.close()
            raise died(error, process_log()) from error
