import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from icpo.engines.local.attention import Shared, attend, fill, merge, rows_at_a_time, survivors


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


def test_scores_are_held_piece_by_piece_where_they_would_take_much_memory():
    q, k, v = torch.randn(7, 2, 5, 8), torch.randn(7, 2, 5, 8), torch.randn(7, 2, 5, 8)
    bias = torch.zeros(7, 1, 1, 5)
    bias[1, ..., 3:] = bias[6, ..., 1:] = -1e30
    at_once = [attend(q, k, v, bias, is_causal=causal, is_fused=False) for causal in (False, True)]
    for limit, sizes in ((100, [2, 2, 2, 1]), (1, [1] * 7), (2**20, [7])):
        assert [x.stop - x.start for x in rows_at_a_time(q, k, limit)] == sizes
        for causal, (out, lse) in zip((False, True), at_once, strict=True):
            in_pieces = attend(q, k, v, bias, is_causal=causal, is_fused=False, max_scores=limit)
            torch.testing.assert_close(in_pieces, (out, lse))


def test_the_plain_path_gives_what_the_fused_one_gives():
    q, k, v = torch.randn(3, 2, 5, 8), torch.randn(3, 2, 5, 8), torch.randn(3, 2, 5, 8)
    bias = torch.zeros(3, 1, 1, 5)
    bias[1, ..., 3:] = -1e30
    for options in ({}, {"bias": bias}, {"is_causal": True}):
        fused, plain = attend(q, k, v, **options), attend(q, k, v, **options, is_fused=False)
        torch.testing.assert_close(plain, fused)
    bias[2] = -1e30  # a segment that is empty for some row: finite, and it weighs nothing
    out, lse = attend(q, k, v, bias, is_fused=False)
    assert out.isfinite().all() and (lse[2] < -1e29).all() and (lse[:2] > -100).all()


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
