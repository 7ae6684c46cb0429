"""Attention by segments: a shared context is stored and read once.

Attention over a context split into segments is the mean of the attentions over each segment, weighted by the
exponential of the log-sum-exp of its scores; every function here therefore returns that beside its output.

Shapes: B rows, X owners of a segment, M rows per owner, S positions, Q queries per key head, N query heads,
J key heads, D head size. Queries of a key head stand side by side, so Q = (N / J) times new positions.
"""

from collections.abc import Callable, Sequence
from math import log

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MASKED = -1e30  # finite: a segment that is empty for some row then weighs nothing instead of giving NaN
CAPACITY_STEP = 32
# Scores held at a time: what fits a CPU's cache; on a GPU 2 GiB in float32, and as much again beside them.
MAX_SCORES = {"cpu": 2**19, "cuda": 2**29}

Part = tuple[Tensor, Tensor]
Way = Callable[..., Part]
Members = NDArray[np.int64]


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None = None,
    *,
    is_causal: bool = False,
    way: Way | None = None,
    max_scores: int | None = None,
) -> Part:
    """Attention output (..., Q, D) in q's dtype and log-sum-exp of scores (..., Q) in float32.

    Shapes: `q` (..., Q, D), `k` and `v` (..., S, D), `bias` as the scores, (..., Q, S), or broadcast. There
    is at least one row, one query and one key. `bias` is added to the scores; `is_causal` lets query i see
    positions up to i. `way` None takes what is fastest on the device; all but `by_fused_kernel` hold at most
    `max_scores` scores at a time.
    """
    on_cpu = q.device.type == "cpu"
    if way is None:
        way = by_fused_kernel if on_cpu and is_causal else by_powers_of_two if on_cpu else by_softmax
    if way is by_fused_kernel:
        return by_fused_kernel(q, k, v, bias, is_causal)
    if is_causal:
        future = q.new_full((q.shape[-2], k.shape[-2]), MASKED, dtype=torch.float32).triu(1)
        bias = future.expand(len(q), 1, -1, -1) if bias is None else bias + future
    pieces = rows_at_a_time(q, k, max_scores or MAX_SCORES[q.device.type])
    parts = [way(q[x], k[x], v[x], bias if bias is None else bias[x]) for x in pieces]
    return (
        parts[0] if len(parts) == 1 else (torch.cat([o for o, _ in parts]), torch.cat([e for _, e in parts]))
    )


def rows_at_a_time(q: Tensor, k: Tensor, max_scores: int) -> list[slice]:
    """The rows in pieces of at most `max_scores` scores."""
    at_a_time = max(max_scores // (q.shape[1:-1].numel() * k.shape[-2]), 1)
    return [slice(start, min(start + at_a_time, len(q))) for start in range(0, len(q), at_a_time)]


def by_fused_kernel(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None, is_causal: bool = False
) -> Part:
    """`attend`, shapes as there, by the CPU's kernel that gives the log-sum-exp too.

    The public function keeps it to itself.
    """
    out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        q, k, v, is_causal=is_causal, attn_mask=bias
    )
    return out, lse


def by_softmax(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None) -> Part:
    """`attend`, shapes as there, for a GPU.

    It passes over the scores, in float32 most of what a step reads, few times.
    """
    scale = q.shape[-1] ** -0.5
    scores = q @ k.transpose(-1, -2)
    scores = scores.float().mul_(scale) if bias is None else torch.add(bias.float(), scores, alpha=scale)
    weights = scores.softmax(dim=-1)
    lse = scores.amax(dim=-1) - weights.amax(dim=-1).log()
    return weights.to(q.dtype) @ v, lse


def by_powers_of_two(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None) -> Part:
    """`attend`, shapes as there, for a CPU.

    exp2 takes a quarter of the time of exp; in place, scores stay in its cache.
    """
    scale = q.shape[-1] ** -0.5 / log(2)
    scores = (q @ k.transpose(-1, -2)).float()
    if bias is None:
        scores.mul_(scale)
    else:
        torch.add(bias.float() / log(2), scores, alpha=scale, out=scores)
    top = scores.amax(dim=-1, keepdim=True)
    weights = scores.sub_(top).exp2_()
    total = weights.sum(dim=-1, keepdim=True)
    out = (weights.to(q.dtype) @ v) / total
    return out.to(q.dtype), (top + total.log2()).mul_(log(2))[..., 0]


def merge(parts: Sequence[Part]) -> Tensor:
    """Attention (..., Q, D) over all segments together, from what `attend` returns for each."""
    weights = torch.stack([lse for _, lse in parts]).softmax(dim=0).to(parts[0][0].dtype)
    total = parts[0][0] * weights[0, ..., None]
    for (out, _), weight in zip(parts[1:], weights[1:], strict=True):
        total = torch.addcmul(total, out, weight[..., None])
    return total


def fill(buffers: Sequence[Tensor], order: Members) -> None:
    """Reorders buffers in place by `order`.

    Places that stay are not touched. `order[i] >= i` is needed: it moves from the end into the holes. The
    buffers are on one device.
    """
    moved = np.flatnonzero(order != np.arange(len(order)))
    if moved.size and buffers:
        device = buffers[0].device
        holes, sources = (torch.from_numpy(places).to(device) for places in (moved, order[moved]))
        for buffer in buffers:
            buffer[holes] = buffer[sources]


def survivors(is_kept: NDArray[np.bool_]) -> Members:
    """An order for `fill` that keeps what is marked."""
    size = int(is_kept.sum())
    order = np.arange(size)
    order[~is_kept[:size]] = size + np.flatnonzero(is_kept[size:])
    return order


class Shared:
    """Keys and values of prompt tokens, shared by an owner's rows."""

    def __init__(self, keys: list[Tensor], values: list[Tensor], lengths: Members, members: Members) -> None:
        """`keys[layer]` is (X, J, S, D), right-padded to the longest owner; `members[b]` is row b's owner."""
        self.keys, self.values, self.lengths = keys, values, lengths
        self.assign(members)

    def assign(self, members: Members) -> None:
        """Makes other rows the members."""
        device = self.keys[0].device
        num_owners = len(self.lengths)
        self.members = members
        counts = np.bincount(members, minlength=num_owners)
        order = np.argsort(members, kind="stable")
        rank = np.empty_like(members)
        rank[order] = np.arange(len(members)) - np.repeat(np.cumsum(counts) - counts, counts)
        # A free slot holds row 0: its attention is computed and not read.
        width = counts.max()
        slots = np.zeros((num_owners, width), dtype=np.int64)
        slots[members, rank] = np.arange(len(members))
        heads = np.arange(self.keys[0].shape[1])[:, None]
        # With the heads of all rows in one list: the head that each slot holds, and the slot of each head.
        head_of_slot = slots[:, None] * len(heads) + heads
        slot_of_head = (members[:, None] * len(heads) + heads.T) * width + rank[:, None]
        self._head_of_slot = torch.from_numpy(head_of_slot.ravel()).to(device)
        self._slot_of_head = torch.from_numpy(slot_of_head.ravel()).to(device)
        self._bias = _padding_bias(self.lengths, self.keys[0])

    def span(self, first: int, last: int, members: Members) -> "Shared":
        """Keys and values of owners first..last; `members` count from `first`."""
        owners = slice(first, last + 1)
        keys, values = [k[owners] for k in self.keys], [v[owners] for v in self.values]
        return Shared(keys, values, self.lengths[owners], members)

    def attend(self, layer: int, q_BJQD: Tensor) -> Part:
        """Attention over owners' positions: (B, J, Q, D) and (B, J, Q)."""
        num_rows, heads, queries, size = q_BJQD.shape
        rows = q_BJQD.reshape(num_rows * heads, queries * size)
        slots = rows.index_select(0, self._head_of_slot).view(len(self.lengths), heads, -1, size)
        length = max(int(self.lengths.max()), 1)
        keys, values = self.keys[layer][:, :, :length], self.values[layer][:, :, :length]
        out, lse = attend(slots, keys, values, self._bias)
        out = out.reshape(-1, queries * size).index_select(0, self._slot_of_head)
        lse = lse.reshape(-1, queries).index_select(0, self._slot_of_head)
        return out.view(q_BJQD.shape), lse.view(num_rows, heads, queries)

    def keep(self, rows: Members) -> None:
        """Keep these rows, in this order, and the owners with rows."""
        members = self.members[rows]
        is_used = np.bincount(members, minlength=len(self.lengths)) > 0
        if not is_used.all():
            order = survivors(is_used)
            fill([*self.keys, *self.values], order)
            self.keys = [k[: len(order)] for k in self.keys]
            self.values = [v[: len(order)] for v in self.values]
            self.lengths = self.lengths[order]
            place = np.zeros(len(is_used), dtype=np.int64)
            place[order] = np.arange(len(order))
            members = place[members]
        self.assign(members)


class Own:
    """Keys and values being prefilled: causal attention among themselves."""

    def __init__(self, keys: list[Tensor], values: list[Tensor]) -> None:
        """`keys[layer]` is the part of a `Shared` buffer, (B, J, S, D), that is written."""
        self.keys, self.values = keys, values

    def attend(self, layer: int, q_BNSD: Tensor, k_BJSD: Tensor, v_BJSD: Tensor) -> Part:
        """Causal attention of the new positions among themselves, grouped by key head."""
        num_rows, heads, new, size = q_BNSD.shape
        key_heads = k_BJSD.shape[1]
        self.keys[layer][:, :, :new], self.values[layer][:, :, :new] = k_BJSD, v_BJSD
        k, v = (x.repeat_interleave(heads // key_heads, dim=1) for x in (k_BJSD, v_BJSD))
        out, lse = attend(q_BNSD, k, v, is_causal=True)
        return out.reshape(num_rows, key_heads, -1, size), lse.reshape(num_rows, key_heads, -1)


class Generated:
    """Keys and values of generated tokens, in buffers that grow."""

    def __init__(self, num_layers: int) -> None:
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        self.num_layers, self.length = num_layers, 0

    def attend(self, layer: int, q_BNSD: Tensor, k_BJSD: Tensor, v_BJSD: Tensor) -> Part:
        """Append one position and attend over all of them."""
        num_rows, key_heads, _, size = k_BJSD.shape
        if layer == len(self.keys):
            shape = (num_rows, key_heads, CAPACITY_STEP, size)
            self.keys.append(k_BJSD.new_zeros(shape))
            self.values.append(v_BJSD.new_zeros(shape))
        if self.length == self.keys[layer].shape[2]:
            self.keys[layer], self.values[layer] = _grown(self.keys[layer]), _grown(self.values[layer])
        keys, values = self.keys[layer], self.values[layer]
        keys[:, :, self.length], values[:, :, self.length] = k_BJSD[:, :, 0], v_BJSD[:, :, 0]
        end = self.length + 1
        if layer == self.num_layers - 1:
            self.length = end
        q = q_BNSD.reshape(num_rows, key_heads, -1, size)
        if q.device.type != "cpu":
            return attend(q, keys[:, :, :end], values[:, :, :end])
        # Whole buffers, what is free masked: kernels are slower for a part, and prepared again for each size.
        bias = torch.zeros(1, 1, 1, keys.shape[2])
        bias[..., end:] = MASKED
        return attend(q, keys, values, bias.expand(num_rows, -1, -1, -1))

    def keep(self, rows: Members) -> None:
        """Goes on with these rows, an order as `survivors` gives it."""
        fill([*self.keys, *self.values], rows)
        self.keys = [k[: len(rows)] for k in self.keys]
        self.values = [v[: len(rows)] for v in self.values]


def _grown(buffer: Tensor) -> Tensor:
    """On a CPU, where buffers are read whole, a step longer; else doubled: a GPU's memory is then reused."""
    added = CAPACITY_STEP if buffer.device.type == "cpu" else buffer.shape[2]
    return torch.cat((buffer, torch.zeros_like(buffer[:, :, :added])), dim=2)


def _padding_bias(lengths: Members, like: Tensor) -> Tensor | None:
    """Zero at an owner's positions and MASKED after them, (X, 1, 1, S); None when all are equally long."""
    longest = int(lengths.max())
    if longest and (lengths == longest).all():
        return None
    past = np.arange(max(longest, 1))[None] >= lengths[:, None]
    bias = torch.from_numpy(past)[:, None, None].to(like.device)
    return torch.zeros(bias.shape, dtype=like.dtype, device=like.device).masked_fill_(bias, MASKED)
