"""A Llama forward pass for sampling many rows at once.

Attention is by segments (attention.py). A row's context is a stem, which prompts that begin alike share; a
tail, the rest of its prompt, which its samples share; and what it generated itself. Rows of a batch generate
in step, so the last needs no padding.

Shapes: B rows, S new positions, N query heads, J key heads, D head size, H hidden size, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from icpo.engines.local.attention import Generated, Members, Own, Shared, merge
from icpo.engines.local.prefixes import Tokens, cluster

# Positions in one prefill call: few, so that activations stay in a core's cache; many, to fill a GPU.
PREFILL_TOKENS = {"cpu": 4096, "cuda": 32768}
# Those whose angles do not change with the length of the context.
ROPE_TYPES = ("default", "linear", "llama3")


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer's weights, with projections stacked."""

    norm_in: Tensor
    qkv: Tensor
    qkv_bias: Tensor | None
    out: Tensor
    out_bias: Tensor | None
    norm_mlp: Tensor
    gate_up: Tensor
    down: Tensor


def is_supported(config: Any) -> bool:
    """Whether `Llama` computes what the Hugging Face model of this configuration computes."""
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    return (
        config.model_type == "llama"
        and config.hidden_act == "silu"
        and not config.mlp_bias
        and rope.get("rope_type", "default") in ROPE_TYPES
    )


class Llama:
    """The weights of a loaded `LlamaForCausalLM`, laid out for sampling."""

    def __init__(self, model: Any) -> None:
        config, body = model.config, model.model
        self.num_heads, self.num_key_heads = config.num_attention_heads, config.num_key_value_heads
        self.epsilon = config.rms_norm_eps
        self.embedding: Tensor = body.embed_tokens.weight
        self.head: Tensor = model.lm_head.weight
        self.norm: Tensor = body.norm.weight
        self.layers = [_layer(layer) for layer in body.layers]
        self.head_size: int = body.layers[0].self_attn.head_dim
        positions = torch.arange(config.max_position_embeddings, device=self.embedding.device)[None]
        cos, sin = body.rotary_emb(self.embedding, positions)
        low, high = sin[0].chunk(2, dim=-1)
        self.cos, self.sin = cos[0], torch.cat((-low, high), dim=-1)

    def begin(self, prompts: Sequence[Tokens], num_samples: Sequence[int]) -> "LlamaBatch":
        """Prefills distinct, sorted prompts; opens `num_samples[i]` rows of prompt i, in order."""
        return LlamaBatch(self, prompts, num_samples)

    def hidden(
        self, tokens_BS: Tensor, starts_B: Tensor, own: Own | Generated, context: list[Shared]
    ) -> Tensor:
        """Final hidden states (B, S, H) of new positions.

        They see their context and, causally, one another. `starts_B` is how many positions come before them.
        """
        num_rows, num_new = tokens_BS.shape
        x = F.embedding(tokens_BS, self.embedding)
        positions = starts_B[:, None] + torch.arange(num_new, device=starts_B.device)
        cos, sin = self.cos[positions][:, :, None], self.sin[positions][:, :, None]
        for index, layer in enumerate(self.layers):
            qkv = F.linear(self._normed(x, layer.norm_in), layer.qkv, layer.qkv_bias)
            heads = qkv.view(num_rows, num_new, -1, self.head_size)
            qk, v = torch.split(heads, [self.num_heads + self.num_key_heads, self.num_key_heads], dim=2)
            qk = _rotated(qk, cos, sin).transpose(1, 2)
            q, k = torch.split(qk, [self.num_heads, self.num_key_heads], dim=1)
            parts = [own.attend(index, q, k, v.transpose(1, 2))]
            q_BJQD = q.reshape(num_rows, self.num_key_heads, -1, self.head_size)
            parts += [segment.attend(index, q_BJQD) for segment in context]
            y = merge(parts).view(num_rows, self.num_heads, num_new, self.head_size)
            x = x + F.linear(y.transpose(1, 2).reshape(num_rows, num_new, -1), layer.out, layer.out_bias)
            gate, up = F.linear(self._normed(x, layer.norm_mlp), layer.gate_up).chunk(2, dim=-1)
            x = x + F.linear(F.silu(gate) * up, layer.down)
        return x

    def logits(self, x_BH: Tensor) -> Tensor:
        """Logits (B, V) of final hidden states."""
        return F.linear(self._normed(x_BH, self.norm), self.head)

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.epsilon)


class LlamaBatch:
    """Rows that generate in step; `logits` are (B, V)."""

    def __init__(self, llama: Llama, prompts: Sequence[Tokens], num_samples: Sequence[int]) -> None:
        self._llama = llama
        self._generated = Generated(len(llama.layers))
        runs = cluster(prompts)
        stem_of_prompt = np.repeat(np.arange(len(runs)), [size for size, _ in runs])
        firsts = np.cumsum([0, *(size for size, _ in runs[:-1])])
        stems = [prompts[first][:shared] for first, (_, shared) in zip(firsts, runs, strict=True)]
        tails = [prompt[len(stems[stem]) :] for prompt, stem in zip(prompts, stem_of_prompt, strict=True)]
        stem, _ = self._prefill(stems, None, np.arange(len(stems)))
        tail, last = self._prefill(tails, stem, stem_of_prompt)
        prompt_of_row = np.repeat(np.arange(len(prompts)), num_samples)
        stem.assign(stem_of_prompt[prompt_of_row])
        tail.assign(prompt_of_row)
        self._shared = [stem, tail]
        rows = torch.from_numpy(prompt_of_row).to(last.device)
        self._starts = torch.tensor([len(p) for p in prompts], device=last.device)[rows]
        self.logits = llama.logits(last)[rows]

    def step(self, tokens_B: Tensor) -> None:
        """Appends one token to each row and computes the next logits."""
        x = self._llama.hidden(tokens_B[:, None], self._starts, self._generated, self._shared)
        self._starts = self._starts + 1
        self.logits = self._llama.logits(x[:, 0])

    def keep(self, rows: Members) -> None:
        """Goes on with these rows alone, an order as `attention.survivors` gives it."""
        for segment in self._shared:
            segment.keep(rows)
        self._generated.keep(rows)
        index = torch.from_numpy(rows).to(self._starts.device)
        self._starts, self.logits = self._starts[index], self.logits[index]

    def _prefill(
        self, pieces: Sequence[Tokens], before: Shared | None, owners: Members
    ) -> tuple[Shared, Tensor]:
        """Keys and values of pieces of text, each after its owner in `before`; their last hidden states."""
        llama = self._llama
        device = llama.embedding.device
        lengths = np.array([len(piece) for piece in pieces])
        longest = max(int(lengths.max()), 1)
        tokens = np.zeros((len(pieces), longest), dtype=np.int64)
        for row, piece in zip(tokens, pieces, strict=True):
            row[: len(piece)] = piece
        tokens_XS = torch.from_numpy(tokens).to(device)
        shape = (len(pieces), llama.num_key_heads, longest, llama.head_size)
        keys = [llama.embedding.new_empty(shape) for _ in llama.layers]
        values = [llama.embedding.new_empty(shape) for _ in llama.layers]
        last: list[Tensor] = []
        size = max(PREFILL_TOKENS[device.type] // longest, 1)
        for start in range(0, len(pieces), size):
            end = min(start + size, len(pieces))
            own = Own([k[start:end] for k in keys], [v[start:end] for v in values])
            starts, context = np.zeros(end - start, dtype=np.int64), []
            if before is not None:
                first, final = owners[start], owners[end - 1]
                starts = before.lengths[owners[start:end]]
                context = [before.span(first, final, owners[start:end] - first)]
            x = llama.hidden(tokens_XS[start:end], torch.from_numpy(starts).to(device), own, context)
            ends = torch.from_numpy(np.maximum(lengths[start:end] - 1, 0)).to(device)
            last.append(x[torch.arange(end - start, device=device), ends])
        return Shared(keys, values, lengths, owners), torch.cat(last)


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding, the two halves of a head being the coordinates of its planes."""
    low, high = x.chunk(2, dim=-1)
    return torch.addcmul(x * cos, torch.cat((high, low), dim=-1), sin)


def _layer(layer: Any) -> Layer:
    """The weights of one Hugging Face layer."""
    attention, mlp = layer.self_attn, layer.mlp
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    has_bias = attention.q_proj.bias is not None
    return Layer(
        norm_in=layer.input_layernorm.weight,
        qkv=torch.cat([p.weight for p in projections]),
        qkv_bias=torch.cat([p.bias for p in projections]) if has_bias else None,
        out=attention.o_proj.weight,
        out_bias=attention.o_proj.bias,
        norm_mlp=layer.post_attention_layernorm.weight,
        gate_up=torch.cat((mlp.gate_proj.weight, mlp.up_proj.weight)),
        down=mlp.down_proj.weight,
    )
