"""Log-probabilities of given texts: each is read as the end of a prompt, whose tokens vLLM scores."""

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from icpo.errors import EngineError
from icpo.types import Completion, FinishReason


def scored_prompts(
    before: Sequence[int], texts: Sequence[Sequence[int]], max_context_tokens: int
) -> list[list[int]]:
    """What vLLM reads for each text; none if one does not fit.

    One token less fits than elsewhere: vLLM samples at least one.
    """
    prompts = [[*before, *text] for text in texts]
    return prompts if all(len(prompt) < max_context_tokens for prompt in prompts) else []


def scoring_parameters(vllm: ModuleType) -> Any:
    """Parameters that score a prompt's tokens.

    vLLM then runs all of them: what the prefix cache holds of a prompt would have no log-probabilities.
    """
    return vllm.SamplingParams(
        temperature=0.0,
        max_tokens=1,
        prompt_logprobs=0,
        skip_reading_prefix_cache=True,
        detokenize=False,
        output_kind=vllm.sampling_params.RequestOutputKind.FINAL_ONLY,
    )


def scored_completion(
    text: str, num_before: int, prompt: Sequence[int], log_probs: Sequence[Mapping[int, Any] | None] | None
) -> Completion:
    """A text with the sum of its tokens' log-probabilities in nats, those after the first `num_before`.

    `log_probs` holds vLLM's for each token of the prompt. Raises EngineError if one is missing.
    """
    if log_probs is None or len(log_probs) != len(prompt):
        raise EngineError(
            f"vLLM gave {len(log_probs or ())} log-probabilities for a prompt of {len(prompt)} tokens."
        )
    tokens = list(zip(prompt, log_probs, strict=True))[num_before:]
    if any(of_token is None or token not in of_token for token, of_token in tokens):
        raise EngineError(f"vLLM gave no log-probability for a token of the text {text!r}.")
    total = math.fsum(of_token[token].logprob for token, of_token in tokens if of_token is not None)
    return Completion(text, num_before, 0, FinishReason.STOP, log_probability=total)
