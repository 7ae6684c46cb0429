"""The vLLM engine: requests join and leave the running batch."""

import logging
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from icpo.engines.sources import Source
from icpo.engines.tokenizers import end_tokens, generation_ends, tokenize
from icpo.engines.vllm.admission import Admission
from icpo.engines.vllm.failures import died
from icpo.engines.vllm.log import process_log
from icpo.engines.vllm.process import VllmProcess
from icpo.errors import EngineError
from icpo.types import Completion, FinishReason, SampleRequest, Sampling

if TYPE_CHECKING:
    from icpo.backbones import Backbone
    from icpo.engines.vllm.settings import Vllm

log = logging.getLogger(__name__)

REASONS = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}


@dataclass(slots=True)
class _Pending:
    """A request on its way: its completions by sample, and the name under which vLLM knows it.

    A greedy request is sampled once, as vLLM wants it, and its completion handed out `num_copies` times.
    """

    request: SampleRequest
    prompt: list[int]
    sampling: Sampling
    num_copies: int
    completions: dict[int, Completion] = field(default_factory=dict)
    name: str = ""


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

        A prompt that leaves less than `min_room_tokens` is answered with `prompt_too_long` and no text.
        """
        prompt = list(tokenize(self._tokenizer, self._backbone, request.prompt))
        sampling, room = request.sampling, self._max_context_tokens - len(prompt)
        if room < sampling.min_room_tokens:
            refused = Completion("", len(prompt), 0, FinishReason.PROMPT_TOO_LONG)
            self._ready.append((ticket, [refused] * request.num_samples))
            return
        sampling = sampling.limited(room)
        num_copies = request.num_samples if sampling.is_greedy else 1
        sampled = replace(request, num_samples=request.num_samples // num_copies)
        self._waiting[ticket] = _Pending(sampled, prompt, sampling, num_copies)
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
            del self._tickets[asked.name]
            self._guarded(self._process.engine.abort_request, [asked.name])
            self._admission.release(ticket)

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

    def _admit(self) -> None:
        """Starts waiting requests, first come first served, while the cache has room."""
        while self._waiting:
            ticket, asked = next(iter(self._waiting.items()))
            request = asked.request
            if not self._admission.admits(
                ticket, request.purpose, len(asked.prompt), asked.sampling, request.num_samples
            ):
                return
            self._running[ticket] = self._waiting.pop(ticket)
            self._start(ticket, asked)

    def _start(self, ticket: int, asked: _Pending) -> None:
        """Hands a request to vLLM."""
        request = asked.request
        self._num_named += 1
        asked.name = str(self._num_named)
        self._tickets[asked.name] = ticket
        parameters = self._parameters(asked.sampling, request.num_samples, request.seed)
        tokens = {"prompt_token_ids": asked.prompt}
        self._guarded(self._process.engine.add_request, asked.name, tokens, parameters)
        self._totals.requests += 1
        self._totals.sequences += request.num_samples
        self._totals.prompt_tokens += len(asked.prompt)

    def _parameters(self, sampling: Sampling, num_samples: int, seed: int) -> Any:
        is_fixed = sampling.min_tokens == sampling.max_tokens  # barring the end token at each step costs time
        return self._vllm.SamplingParams(
            n=num_samples,
            temperature=1.0 if sampling.temperature is None else sampling.temperature,
            top_p=1.0 if sampling.top_p is None else sampling.top_p,
            top_k=sampling.top_k or 0,
            min_p=sampling.min_p or 0.0,
            max_tokens=sampling.max_tokens,
            min_tokens=0 if is_fixed else sampling.min_tokens,
            ignore_eos=is_fixed,
            repetition_penalty=sampling.repetition_penalty,
            stop=list(sampling.stop) or None,
            stop_token_ids=None if is_fixed else self._end_ids,
            seed=None if sampling.is_greedy else seed,
            output_kind=self._vllm.sampling_params.RequestOutputKind.FINAL_ONLY,
        )

    def _take(self, output: Any) -> None:
        """Takes note of what vLLM reports of a request; a report of a cancelled one is passed over."""
        ticket = self._tickets.get(output.request_id)
        if ticket is None:
            return
        asked = self._running[ticket]
        for sample in output.outputs:
            if sample.finish_reason is None:
                continue
            completion = _completion(asked, sample, output.num_cached_tokens or 0)
            asked.completions[sample.index] = completion
            self._admission.learn(asked.request.purpose, completion.num_completion_tokens)
            self._totals.generated_tokens += completion.num_completion_tokens
        if len(asked.completions) == asked.request.num_samples:
            self._totals.cached_prompt_tokens += output.num_cached_tokens or 0
            self._admission.release(ticket)
            del self._running[ticket], self._tickets[output.request_id]
            completions = [asked.completions[i] for i in range(asked.request.num_samples)]
            self._ready.append((ticket, completions * asked.num_copies))

    def _guarded(self, call: Any, *arguments: Any) -> Any:
        """A call into vLLM whose failure means that the engine died."""
        try:
            return call(*arguments)
        except self._process.deadly as error:
            self._process.close()
            raise died(error, process_log()) from error


def _completion(asked: _Pending, sample: Any, num_cached: int) -> Completion:
    """A sample as a completion."""
    if sample.finish_reason not in REASONS:
        raise EngineError(f"vLLM ended a completion with {sample.finish_reason!r}, which is not expected.")
    reason = REASONS[sample.finish_reason]
    return Completion(sample.text, len(asked.prompt), len(sample.token_ids), reason, num_cached)
