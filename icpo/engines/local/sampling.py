"""Sampling the next token of many rows, each with own settings.

Shapes: B rows, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from icpo.engines.local.prefixes import Tokens
from icpo.types import Sampling

NUMBERS_PER_TOKEN = 2
BLOCK_TOKENS = 64


class Randomness:
    """Uniform numbers in [0, 1): a stream per row, by its seed."""

    def __init__(self, seeds: Sequence[int]) -> None:
        philox = (np.random.Philox(key=seed) for seed in seeds)
        self._streams = [np.random.Generator(p) for p in philox]

    def block(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The next numbers of these rows: (tokens, len(rows), numbers per token)."""
        shape = (BLOCK_TOKENS, NUMBERS_PER_TOKEN)
        return np.stack([self._streams[row].random(shape, dtype=np.float32) for row in rows], axis=1)


@dataclass(frozen=True, slots=True)
class RowSettings:
    """The sampling settings of each row, (B, 1) each.

    `seen` marks the tokens so far. `top_k` is the vocabulary's size and `min_p` 0 in rows that name none.
    What no row needs is None.
    """

    temperature: Tensor
    top_p: Tensor
    min_tokens: Tensor
    penalty: Tensor
    seen: Tensor | None
    top_k: Tensor | None = None
    min_p: Tensor | None = None

    @classmethod
    def of(
        cls,
        samplings: Sequence[Sampling],
        prompts: Sequence[Tokens],
        vocabulary: int,
        device: torch.device,
    ) -> "RowSettings":
        """Settings, on `device`, of rows whose prompts' token ids are given."""

        def column(name: str, default: float = 1) -> Tensor:
            values = [getattr(s, name) for s in samplings]
            filled = [[default if value is None else value] for value in values]
            return torch.tensor(filled, dtype=torch.float32, device=device)

        def optional(name: str, default: float) -> Tensor | None:
            return column(name, default) if any(getattr(s, name) is not None for s in samplings) else None

        penalty = column("repetition_penalty")
        seen = None
        if (penalty != 1).any():
            seen = torch.zeros(len(prompts), vocabulary, dtype=torch.bool, device=device)
            for row, prompt in zip(seen, prompts, strict=True):
                row[list(prompt)] = True
        top_k, min_p = optional("top_k", vocabulary), optional("min_p", 0)
        return cls(column("temperature"), column("top_p"), column("min_tokens"), penalty, seen, top_k, min_p)

    def keep(self, rows: Tensor) -> "RowSettings":
        """The settings of these rows."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{name: v[rows] for name, v in values.items() if v is not None})


def sample_tokens(
    logits_BV: Tensor, settings: RowSettings, numbers_B2: Tensor, num_sampled: int, end_ids: Tensor
) -> Tensor:
    """The next token of each row, (B,); greedy at temperature 0.

    Among equals the smallest id comes first. As in transformers and vLLM: repetition penalty, then
    temperature, `min_p` and `top_k`, then the nucleus, the fewest most likely tokens that hold `top_p`.
    `end_ids` are barred while `num_sampled` is below a row's `min_tokens`.
    """
    scores = logits_BV.float()
    if settings.seen is not None:
        penalised = torch.where(scores > 0, scores / settings.penalty, scores * settings.penalty)
        scores = torch.where(settings.seen, penalised, scores)
    if num_sampled < int(settings.min_tokens.max()):
        barred = (num_sampled < settings.min_tokens) & torch.zeros_like(scores, dtype=torch.bool).index_fill(
            1, end_ids, True
        )
        scores = scores.masked_fill(barred, -torch.inf)
    is_greedy = settings.temperature[:, 0] == 0
    num_greedy = int(is_greedy.sum())
    if num_greedy == len(is_greedy):
        tokens = scores.argmax(dim=-1)
    else:
        sharp = torch.where(settings.temperature == 0, 1, settings.temperature)
        p_BV = _cut((scores / sharp).softmax(dim=-1), settings)
        tokens = _nucleus(p_BV, settings.top_p, numbers_B2)
        if num_greedy:
            tokens = torch.where(is_greedy, scores.argmax(dim=-1), tokens)
    if settings.seen is not None:
        settings.seen.scatter_(1, tokens[:, None], True)
    return tokens


def _cut(p_BV: Tensor, settings: RowSettings) -> Tensor:
    """The `top_k` most likely tokens with at least `min_p` of the likeliest's probability, normalised."""
    if settings.top_k is None and settings.min_p is None:
        return p_BV
    if settings.min_p is not None:
        p_BV = p_BV.masked_fill(p_BV < settings.min_p * p_BV.amax(dim=-1, keepdim=True), 0)
    if settings.top_k is not None:
        ranked, order = p_BV.sort(dim=-1, descending=True, stable=True)
        ranks = torch.arange(p_BV.shape[-1], device=p_BV.device)
        p_BV = torch.zeros_like(p_BV).scatter(1, order, ranked.masked_fill(ranks >= settings.top_k, 0))
    return p_BV / p_BV.sum(dim=-1, keepdim=True)


def _nucleus(p_BV: Tensor, top_p_B1: Tensor, numbers_B2: Tensor) -> Tensor:
    """A token from each row's nucleus: sampled from the whole, and again if outside.

    A token is inside when the more likely ones hold less than `top_p`. Sorting only the few rows that drew
    outside leaves the distribution what it is and saves most of the time.
    """
    tokens = _inverse(p_BV, numbers_B2[:, :1])
    above = (p_BV * (p_BV > p_BV.gather(1, tokens))).sum(dim=-1)
    outside = torch.nonzero((above >= top_p_B1[:, 0]) & (top_p_B1[:, 0] < 1))[:, 0]
    if outside.numel():
        ranked, order = p_BV[outside].sort(dim=-1, descending=True, stable=True)
        before = ranked.cumsum(dim=-1) - ranked
        ranks = _inverse(ranked.masked_fill(before >= top_p_B1[outside], 0), numbers_B2[outside, 1:])
        tokens[outside] = order.gather(1, ranks)
    return tokens[:, 0]


def _inverse(p_BV: Tensor, numbers_B1: Tensor) -> Tensor:
    """The token whose interval of the cumulative distribution holds the number, (B, 1); any total will do."""
    cumulative = p_BV.cumsum(dim=-1)
    total = cumulative[:, -1:]
    target = torch.minimum(numbers_B1 * total, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulative, target, right=True)
