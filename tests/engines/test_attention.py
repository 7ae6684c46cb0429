import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from icpo.engines.local.attention import (
    CAPACITY_STEP,
    Generated,
    Shared,
    attend,
    by_fused_kernel,
    by_powers_of_two,
    by_softmax,
    fill,
    merge,
    rows_at_a_time,
    survivors,
)


def full(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_survivors_fill_the_holes_from_the_end(marks):
    is_kept = np.array(marks)
    buffer = torch.arange(len(marks))
    order = survivors(is_kept)
    fill([buffer], order)
    kept = buffer[: len(order)].tolist()
    assert kept == order.tolist()
    assert sorted(kept) == np.flatnonzero(is_kept).tolist()
    assert all(place == i or not is_kept[i] for i, place in enumerate(kept))


def test_attention_over_segments_is_attention_over_the_whole():
    q, k, v = torch.randn(3, 2, 5, 8), torch.randn(3, 2, 9, 8), torch.randn(3, 2, 9, 8)
    parts = [attend(q, k[:, :, a:b], v[:, :, a:b]) for a, b in ((0, 1), (1, 6), (6, 9))]
    torch.testing.assert_close(merge(parts), full(q, k, v))


@pytest.mark.parametrize("way", [by_softmax, by_powers_of_two])
def test_scores_are_held_piece_by_piece_where_they_would_take_much_memory(way):
    q, k, v = torch.randn(7, 2, 5, 8), torch.randn(7, 2, 5, 8), torch.randn(7, 2, 5, 8)
    bias = torch.zeros(7, 1, 1, 5)
    bias[1, ..., 3:] = bias[6, ..., 1:] = -1e30
    at_once = [attend(q, k, v, bias, is_causal=causal, way=way) for causal in (False, True)]
    for limit, sizes in ((100, [2, 2, 2, 1]), (1, [1] * 7), (2**20, [7])):
        assert [x.stop - x.start for x in rows_at_a_time(q, k, limit)] == sizes
        for causal, (out, lse) in zip((False, True), at_once, strict=True):
            in_pieces = attend(q, k, v, bias, is_causal=causal, way=way, max_scores=limit)
            torch.testing.assert_close(in_pieces, (out, lse))


@pytest.mark.parametrize("way", [by_softmax, by_powers_of_two])
def test_every_way_gives_what_the_fused_kernel_gives(way):
    q, k, v = torch.randn(3, 2, 5, 8), torch.randn(3, 2, 5, 8), torch.randn(3, 2, 5, 8)
    bias = torch.zeros(3, 1, 1, 5)
    bias[1, ..., 3:] = -1e30
    for options in ({}, {"bias": bias}, {"is_causal": True}):
        fused = attend(q, k, v, **options, way=by_fused_kernel)
        torch.testing.assert_close(attend(q, k, v, **options, way=way), fused)
    near = torch.randn(3, 1, 5, 5)  # that weighs scores, and masks none
    fused = attend(q, k, v, near, way=by_fused_kernel)
    torch.testing.assert_close(attend(q, k, v, near, way=way), fused)
    bias[2] = -1e30  # a segment that is empty for some row: finite, and it weighs nothing
    out, lse = attend(q, k, v, bias, way=way)
    assert out.isfinite().all() and (lse[2] < -1e29).all() and (lse[:2] > -100).all()


def test_great_scores_and_half_precision_leave_attention_finite_and_near():
    q, k, v = 40 * torch.randn(3, 2, 5, 32), torch.randn(3, 2, 9, 32), torch.randn(3, 2, 9, 32)
    half = [x.bfloat16() for x in (q, k, v)]
    out, lse = by_powers_of_two(*half)
    exact, exact_lse = by_fused_kernel(*(x.float() for x in half))
    assert out.dtype == torch.bfloat16 and lse.dtype == torch.float32
    torch.testing.assert_close(lse, exact_lse, rtol=1e-2, atol=0.5)
    assert (out.float() - exact).abs().mean() < 0.05


def test_shared_segments_serve_ragged_owners_and_an_empty_one_and_drop_those_without_rows():
    lengths, members = np.array([4, 0, 2]), np.array([0, 2, 0, 1, 2])
    keys, values = torch.randn(3, 2, 4, 8), torch.randn(3, 2, 4, 8)
    shared = Shared([keys.clone()], [values.clone()], lengths, members)
    own_k, own_v, q = torch.randn(5, 2, 3, 8), torch.randn(5, 2, 3, 8), torch.randn(5, 2, 2, 8)
    rows = np.arange(5)
    for order in (rows, np.array([4, 1, 3])):
        if len(order) < 5:
            shared.keep(order)
        merged = merge([attend(q[order], own_k[order], own_v[order]), shared.attend(0, q[order])])
        for place, row in enumerate(order):
            owner = members[row]
            k = torch.cat((keys[owner, :, : lengths[owner]], own_k[row]), dim=1)
            v = torch.cat((values[owner, :, : lengths[owner]], own_v[row]), dim=1)
            torch.testing.assert_close(merged[place], full(q[row], k, v))
    assert len(shared.lengths) == 2


def test_generated_positions_are_all_seen_while_buffers_grow():
    steps = 2 * CAPACITY_STEP + 3
    k, v = torch.randn(4, 2, steps, 8), torch.randn(4, 2, steps, 8)
    generated = Generated(1)
    for step in range(steps):
        q = torch.randn(4, 6, 1, 8)
        out, _ = generated.attend(0, q, k[:, :, step : step + 1], v[:, :, step : step + 1])
        torch.testing.assert_close(out, full(q.reshape(4, 2, 3, 8), k[:, :, : step + 1], v[:, :, : step + 1]))
    assert generated.length == steps
