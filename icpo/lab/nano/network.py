"""nano's forward pass in few kernels: the function that LlamaForCausalLM computes, from the same weights.

At this size a GPU waits for kernels to be launched, not for numbers; this pass launches far fewer of them.
Rows are right-padded, so that training and prefill need no mask: no token attends to what comes after it.

Shapes: B rows, T tokens, D width, H query heads, G key-value heads, S head size.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear, pad, rms_norm, scaled_dot_product_attention, silu


@dataclass
class Cache:
    """Keys and values of each layer, shape (B, G, slots, S); the first `width` slots hold prompts."""

    keys: list[Tensor]
    values: list[Tensor]
    width: int

    def repeat(self, times: int, num_more: int) -> "Cache":
        """Each row `times` times, with room for `num_more` tokens."""

        def grown(x: Tensor) -> Tensor:
            return pad(x.repeat_interleave(times, 0), (0, 0, 0, num_more))

        return Cache([grown(k) for k in self.keys], [grown(v) for v in self.values], self.width)

    def select(self, rows: Tensor) -> "Cache":
        """The rows given."""
        return Cache([k[rows] for k in self.keys], [v[rows] for v in self.values], self.width)


@dataclass(frozen=True)
class Network:
    """The forward pass of a LlamaForCausalLM."""

    model: Any

    def hidden(self, ids_BT: Tensor, cache: Cache | None = None) -> Tensor:
        """Last hidden states, shape (B, T, D), after the final norm; keys and values are added to `cache`."""
        config = self.model.config
        x_BTD = self.model.model.embed_tokens(ids_BT)
        rotation = self._rotation(torch.arange(ids_BT.shape[1], device=ids_BT.device))
        for layer in self.model.model.layers:
            q, k, v = self._heads(layer, x_BTD, rotation)
            if cache is not None:
                cache.keys.append(k)
                cache.values.append(v)
            mixed = scaled_dot_product_attention(
                q, k, v, is_causal=True, enable_gqa=config.num_key_value_heads != config.num_attention_heads
            )
            x_BTD = x_BTD + layer.self_attn.o_proj(mixed.transpose(1, 2).flatten(2))
            x_BTD = x_BTD + _mlp(layer, x_BTD)
        return _norm(self.model.model.norm, x_BTD)

    def next_hidden(
        self, ids_B: Tensor, positions_B: Tensor, bias_BT: Tensor, slot: int, cache: Cache
    ) -> Tensor:
        """Hidden states of one more token a row, shape (B, D), written to `slot` of the cache.

        `bias_BT` is 0 where a row may look among slots 0 to `slot` and minus infinity elsewhere.
        """
        x_BTD = self.model.model.embed_tokens(ids_B[:, None])
        rotation = self._rotation(positions_B[:, None])
        for layer, keys, values in zip(self.model.model.layers, cache.keys, cache.values, strict=True):
            q, k, v = self._heads(layer, x_BTD, rotation)
            keys[:, :, slot], values[:, :, slot] = k[:, :, 0], v[:, :, 0]
            grouped = q.view(q.shape[0], keys.shape[1], -1, q.shape[-1])
            scores = grouped @ keys[:, :, : slot + 1].transpose(2, 3) * q.shape[-1] ** -0.5
            weights = (scores.float() + bias_BT[:, None, None]).softmax(-1).to(values.dtype)
            mixed = (weights @ values[:, :, : slot + 1]).flatten(1)
            x_BTD = x_BTD + layer.self_attn.o_proj(mixed[:, None])
            x_BTD = x_BTD + _mlp(layer, x_BTD)
        return _norm(self.model.model.norm, x_BTD)[:, 0]

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits of the next token, in float32."""
        logits: Tensor = self.model.lm_head(hidden)
        return logits.float()

    def _rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines of the rotary angles, with an axis for heads."""
        frequencies = self.model.model.rotary_emb.inv_freq
        angles = (positions[..., None].float() * frequencies).unsqueeze(-2)
        return angles.cos(), angles.sin()

    def _heads(
        self, layer: Any, x_BTD: Tensor, rotation: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Rotated queries and keys, and values; shapes (B, H or G, T, S)."""
        attention, config = layer.self_attn, self.model.config
        weight = torch.cat([attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight])
        heads = linear(_norm(layer.input_layernorm, x_BTD), weight)
        num_rotated = config.num_attention_heads + config.num_key_value_heads
        heads = heads.view(*x_BTD.shape[:2], -1, config.head_dim)
        cos, sin = (r.to(heads.dtype) for r in rotation)
        one, two = heads[..., :num_rotated, :].chunk(2, -1)
        rotated = torch.cat([one * cos - two * sin, two * cos + one * sin], -1).transpose(1, 2)
        values = heads[..., num_rotated:, :].transpose(1, 2)
        return (
            rotated[:, : config.num_attention_heads],
            rotated[:, config.num_attention_heads :],
            values,
        )


def _norm(norm: Any, x: Tensor) -> Tensor:
    return rms_norm(x, norm.weight.shape, norm.weight, norm.variance_epsilon)


def _mlp(layer: Any, x_BTD: Tensor) -> Tensor:
    mlp = layer.mlp
    weight = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
    gate, up = linear(_norm(layer.post_attention_layernorm, x_BTD), weight).chunk(2, -1)
    out: Tensor = mlp.down_proj(silu(gate) * up)
    return out
