"""Cost of sampling in floating-point operations (FLOPs).

A multiplication and an addition are two. A token costs 2 N for the N parameters of the matrix products, and
in each of L layers 4 d for each position that it attends to: 2 d for its query times a key, 2 d for a weight
times a value (d is the width of all queries). Softmax, norms and activations are left out. Source: Chowdhery
et al. 2022, "PaLM", Appendix B, 6 N + 12 L H Q T a token with the backward pass, of which the forward pass is
a third; here T is the number of positions attended to, itself included. Kaplan et al. 2020, Table 1, counts
alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KEYS = (
    "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelSize:
    """Size of a model: what its forward pass costs.

    Parameters of matrix products N, layers L, width of all queries d. N leaves out the table of embeddings,
    which is looked up, and includes the output head.
    """

    num_parameters: float
    num_layers: int
    query_width: int


def gated_decoder(config: Mapping[str, Any]) -> ModelSize | None:
    """Size of a dense decoder (Llama, Qwen, Gemma) from its config.json.

    Its MLPs are gated. None for a mixture of experts and for a configuration without these keys.
    """
    own = config.get("text_config", config)
    if any(key not in own for key in KEYS) or any("expert" in key for key in own):
        return None
    width, heads, layers = own["hidden_size"], own["num_attention_heads"], own["num_hidden_layers"]
    head_width = own.get("head_dim") or width // heads
    queries, keys = heads * head_width, (own.get("num_key_value_heads") or heads) * head_width
    layer = 2 * width * (queries + keys) + 3 * width * own["intermediate_size"]
    return ModelSize(layers * layer + own["vocab_size"] * width, layers, queries)


def sampling_flops(
    size: ModelSize,
    *,
    num_requests: float,
    num_sequences: float,
    prompt_tokens: float,
    cached_prompt_tokens: float,
    generated_tokens: float,
) -> float:
    """FLOPs of requests: prefill of uncached prompts, and decoding.

    Totals over the requests, as a result's usage has them. The part of the parameters is exact; for attention
    the requests are taken to have the mean length each, which counts too little where lengths vary.
    """
    if not num_requests or not num_sequences:
        return 0.0
    prompt, cached = prompt_tokens / num_requests, cached_prompt_tokens / num_requests
    completion = generated_tokens / num_sequences
    prefill = num_requests * (prompt * (prompt + 1) - cached * (cached + 1)) / 2
    decoding = generated_tokens * (prompt + (completion + 1) / 2)
    num_tokens = prompt_tokens - cached_prompt_tokens + generated_tokens
    attention = 4 * size.num_layers * size.query_width * (prefill + decoding)
    return 2 * size.num_parameters * num_tokens + attention
