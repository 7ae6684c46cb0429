import pytest

from icpo.engines.vllm import graph_sizes


@pytest.mark.parametrize("max_num_seqs", [1, 8, 64, 100, 512, 1024])
def test_graphs_fit_full_batches_and_some_prompts_beside_them(max_num_seqs):
    sizes = graph_sizes(max_num_seqs)
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 1
    assert max_num_seqs in sizes
    assert sizes[-1] >= max_num_seqs + 512


def test_a_replayed_graph_is_little_larger_than_the_batch():
    sizes = graph_sizes(512)
    for num_tokens in range(1, 513):
        replayed = next(size for size in sizes if size >= num_tokens)
        assert replayed - num_tokens <= max(7, num_tokens / 4)
    assert len(sizes) < 40  # each costs time at the start
