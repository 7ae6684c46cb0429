"""The slower path: any Hugging Face model with its own cache.

Shapes: B rows, G prompts, S positions, V vocabulary.
"""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from icpo.engines.local.attention import Members
from icpo.engines.local.prefixes import Tokens


class AnyModel:
    """Any causal language model of transformers."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def begin(self, prompts: Sequence[Tokens], num_samples: Sequence[int]) -> "AnyBatch":
        """Prefills distinct prompts; row counts are `num_samples`."""
        return AnyBatch(self.model, prompts, num_samples)


class AnyBatch:
    """Rows that generate in step; `logits` are (B, V)."""

    def __init__(self, model: Any, prompts: Sequence[Tokens], num_samples: Sequence[int]) -> None:
        self._model = model
        longest = max(map(len, prompts))
        tokens = torch.zeros(len(prompts), longest, dtype=torch.long, device=model.device)
        mask = torch.zeros_like(tokens)
        for row, prompt in enumerate(prompts):
            tokens[row, longest - len(prompt) :] = torch.tensor(prompt)
            mask[row, longest - len(prompt) :] = 1
        parameters = inspect.signature(model.forward).parameters
        self._cache_name = (
            "cache" if "cache" in parameters else "past_key_values"
        )  # renamed in transformers 5
        self._mask, self._cache = mask, None
        self._forward(tokens, (mask.cumsum(dim=-1) - 1).clamp(min=0))
        self._select(np.repeat(np.arange(len(prompts)), num_samples))

    def step(self, tokens_B: Tensor) -> None:
        """Appends one token to each row and computes the next logits."""
        positions = self._mask.sum(dim=-1, keepdim=True)
        self._mask = torch.cat((self._mask, torch.ones_like(positions)), dim=-1)
        self._forward(tokens_B[:, None], positions)

    def keep(self, rows: Members) -> None:
        """Goes on with these rows alone, in this order."""
        self._select(rows)

    def _forward(self, tokens_BS: Tensor, positions_BS: Tensor) -> None:
        out = self._model(
            input_ids=tokens_BS,
            attention_mask=self._mask,
            position_ids=positions_BS,
            use_cache=True,
            logits_to_keep=1,
            **{self._cache_name: self._cache},
        )
        self._cache, self.logits = out[self._cache_name], out.logits[:, -1]

    def _select(self, rows: Members) -> None:
        index = torch.from_numpy(rows).to(self._mask.device)
        self._mask, self.logits = self._mask[index], self.logits[index]
        assert self._cache is not None
        self._cache.batch_select_indices(index)
