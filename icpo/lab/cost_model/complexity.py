"""The paper's cost model (Appendix "Detailed Complexity Analysis") with numbers in it.

Costs of time are in the paper's units: its primitive costs with every hidden constant set to 1. They compare
settings of one model; they are no FLOPs.
"""

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder: layers L, width d, parameters, width of its keys."""

    num_layers: int
    width: int
    num_parameters: float
    key_width: int

    @property
    def cache_bytes_per_token(self) -> int:
        """Keys and values of all layers in bf16."""
        return 2 * 2 * self.num_layers * self.key_width


QWEN_7B = ModelShape(num_layers=28, width=3584, num_parameters=7.6e9, key_width=512)


@dataclass(frozen=True, slots=True)
class Workload:
    """One question: n rounds of k candidates, m look-aheads each.

    Lengths s_0, l and beta are in tokens. The paper sets beta (what one attempt adds to the prompt) to the
    answer's length l; with summaries it is theirs.
    """

    num_rounds: int
    num_candidates: int
    num_lookaheads: int
    prompt_tokens: float
    answer_tokens: float
    appended_tokens: float

    def prefix_tokens(self, t: int) -> float:
        """T_{t-1} = s_0 + beta (t - 1), the prompt's length in round t (from 1)."""
        return self.prompt_tokens + self.appended_tokens * (t - 1)


def forward_cost(shape: ModelShape, length: float) -> float:
    """C_fwd(T) = L (T^2 d + T d^2)."""
    return shape.num_layers * (length**2 * shape.width + length * shape.width**2)


def decode_cost(shape: ModelShape, prefix: float, length: float) -> float:
    """C_dec(T, l) = L ((T l + l^2) d + l d^2)."""
    L, d = shape.num_layers, shape.width
    return L * ((prefix * length + length**2) * d + length * d**2)


def score_cost(shape: ModelShape, prefix: float, length: float) -> float:
    """C_score^inc(T, l) = L ((T + l) d + d^2): a look-ahead as the paper prices it, O(1) tokens long."""
    return shape.num_layers * ((prefix + length) * shape.width + shape.width**2)


def me_icpo_time(shape: ModelShape, work: Workload, *, full_lookaheads: bool) -> float:
    """Prefills, decodes and scores of all rounds, summed exactly.

    Paper, proof of the ME-ICPO time theorem. With `full_lookaheads` each candidate is scored by m whole
    answers after a prefill of its attempt, as Algorithm 1 samples them, instead of the constant number of
    tokens that the theorem counts.
    """
    total = 0.0
    k, m, length = work.num_candidates, work.num_lookaheads, work.answer_tokens
    for t in range(1, work.num_rounds + 1):
        prefix = work.prefix_tokens(t)
        total += forward_cost(shape, prefix) + k * decode_cost(shape, prefix, length)
        if full_lookaheads:
            extended = prefix + work.appended_tokens
            total += k * (forward_cost(shape, extended) + m * decode_cost(shape, extended, length))
        else:
            total += k * score_cost(shape, prefix, length)
    return total


def ttrl_time(shape: ModelShape, work: Workload, *, num_steps: int, backward_ratio: float) -> float:
    """Time of TTRL over n rounds (paper, proof of its theorem)."""
    s0, length, k = work.prompt_tokens, work.answer_tokens, work.num_candidates
    training = num_steps * k * (1 + backward_ratio) * forward_cost(shape, s0 + length)
    return work.num_rounds * (forward_cost(shape, s0) + k * decode_cost(shape, s0, length) + training)


def me_icpo_bytes(shape: ModelShape, work: Workload, *, num_concurrent: int = 1) -> float:
    """Peak memory of ME-ICPO: weights and cache (VRAM theorem)."""
    context = work.prompt_tokens + work.appended_tokens * work.num_rounds
    return 2 * shape.num_parameters + num_concurrent * shape.cache_bytes_per_token * context


def ttrl_bytes(shape: ModelShape, work: Workload, *, batch: int, optimizer_states: float = 2.0) -> float:
    """Peak memory of a TTRL step, in bf16.

    Weights, gradients, optimizer states and the batch's activations. Activations are counted as the paper
    does in its comparison: with the constant of the cache.
    """
    resident = 2 * (2 + optimizer_states) * shape.num_parameters
    return resident + batch * shape.cache_bytes_per_token * (work.prompt_tokens + work.answer_tokens)


def time_threshold(work: Workload, *, num_steps: int, backward_ratio: float) -> float:
    """The n* below which ME-ICPO is faster by its leading terms.

    Paper, "Time Complexity Threshold". The case is chosen by the workload's own k and n.
    """
    ratio = (work.prompt_tokens + work.answer_tokens) / work.answer_tokens
    gain = num_steps * (1 + backward_ratio)
    if work.num_candidates <= work.num_rounds:
        return ratio * sqrt(gain * work.num_candidates)
    return gain * ratio**2


def memory_threshold(
    shape: ModelShape, work: Workload, *, batch: int, num_concurrent: int, optimizer_states: float = 2.0
) -> float:
    """The n below which ME-ICPO takes less memory."""
    s0, length = work.prompt_tokens, work.answer_tokens
    cache = (batch * (s0 + length) - num_concurrent * s0) / (num_concurrent * length)
    extra_bytes = 2 * (1 + optimizer_states) * shape.num_parameters
    return cache + extra_bytes / (num_concurrent * shape.cache_bytes_per_token * length)
