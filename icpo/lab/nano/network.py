"""nano's forward pass for training: what LlamaForCausalLM computes, from the same weights, in few kernels.

At this size a GPU waits for kernels to be launched, not for numbers; this pass launches far fewer of them.
Rows are right-padded, so that no mask is needed: no token attends to what comes after it. Sampling and
evaluation go through icpo/engines/local.

Shapes: B rows, T tokens, D width, H query heads, G key-value heads, S head size.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear, rms_norm, scaled_dot_product_attention, silu


@dataclass(frozen=True)
class Network:
    """The forward pass of a LlamaForCausalLM."""

    model: Any

    def hidden(self, ids_BT: Tensor) -> Tensor:
        """Last hidden states, shape (B, T, D), after the final norm."""
        config = self.model.config
        x_BTD = self.model.model.embed_tokens(ids_BT)
        rotation = self._rotation(torch.arange(ids_BT.shape[1], device=ids_BT.device))
        for layer in self.model.model.layers:
            q, k, v = self._heads(layer, x_BTD, rotation)
            mixed = scaled_dot_product_attention(
                q, k, v, is_causal=True, enable_gqa=config.num_key_value_heads != config.num_attention_heads
            )
            x_BTD = x_BTD + layer.self_attn.o_proj(mixed.transpose(1, 2).flatten(2))
            x_BTD = x_BTD + _mlp(layer, x_BTD)
        return _norm(self.model.model.norm, x_BTD)

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
