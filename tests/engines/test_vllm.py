"""Arguments of vLLM's engine."""

import pytest

from icpo.engines.vllm.arguments import graph_sizes, graphs, options_with_bursts
from tests.engines.test_vllm_failures import settings_of


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


def test_bursts_reach_our_scheduler_where_the_one_it_extends_is_in_use():
    found = options_with_bursts(settings_of(admission_burst=16))
    assert found["scheduler_cls"] == "icpo.engines.vllm.scheduler.BurstScheduler"
    assert found["additional_config"] == {"icpo_admission_burst": 16}
    assert options_with_bursts(settings_of(admission_burst=1)) == {}
    for options in (
        {"async_scheduling": False},
        {"speculative_config": {"method": "ngram"}},
        {"scheduler_cls": "other.Scheduler"},
    ):
        assert options_with_bursts(settings_of(admission_burst=16, options=options)) == options


def test_options_stand_beside_the_bursts():
    options = {"additional_config": {"theirs": 1}, "kv_cache_dtype": "fp8"}
    found = options_with_bursts(settings_of(admission_burst=16, options=options))
    assert found["additional_config"] == {"icpo_admission_burst": 16, "theirs": 1}
    assert found["kv_cache_dtype"] == "fp8"


def test_without_cuda_graphs_none_are_asked_for():
    assert graphs(settings_of(enforce_eager=True)) == {}
    sizes = graphs(settings_of(enforce_eager=False))["compilation_config"]["cudagraph_capture_sizes"]
    assert sizes == graph_sizes(8)
