"""Sampling as vLLM takes it, and what it returns as completions."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from icpo.errors import EngineError
from icpo.types import Completion, FinishReason, Sampling

REASONS = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}


def sampling_parameters(
    vllm: ModuleType, sampling: Sampling, num_samples: int, seed: int, end_ids: Sequence[int]
) -> Any:
    """Parameters of one request; one of `end_ids` ends a sample."""
    is_fixed = sampling.min_tokens == sampling.max_tokens  # barring the end token at each step costs time
    return vllm.SamplingParams(
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
        stop_token_ids=None if is_fixed else list(end_ids),
        seed=None if sampling.is_greedy else seed,
        output_kind=vllm.sampling_params.RequestOutputKind.FINAL_ONLY,
    )


def sampled_completion(sample: Any, num_prompt_tokens: int, num_cached_tokens: int) -> Completion:
    """A sample that ended.

    Raises EngineError where vLLM ended it in a way that is not known.
    """
    if sample.finish_reason not in REASONS:
        raise EngineError(f"vLLM ended a completion with {sample.finish_reason!r}, which is not expected.")
    reason = REASONS[sample.finish_reason]
    return Completion(sample.text, num_prompt_tokens, len(sample.token_ids), reason, num_cached_tokens)
