"""One engine at a time, and what a cell spent on it."""

import pytest

from icpo.evaluation.engine_pool import EnginePool, spent_between


class Engine:
    def __init__(self):
        self.is_closed, self.tokens = False, 5

    def accounting(self):
        return {"generated_tokens": self.tokens}

    def close(self):
        self.is_closed = True


class Settings:
    name = "fake"

    def preflight(self):
        pass

    def start(self, backbone, *, max_context_tokens):
        return Engine()


def test_the_engine_is_kept_until_another_is_wanted():
    pool, settings = EnginePool(), Settings()
    first = pool.get(settings, "nano", 100)
    assert pool.get(settings, "nano", 100) is first
    second = pool.get(settings, "other", 100)
    assert first.is_closed and not second.is_closed
    pool.close()
    assert second.is_closed


def test_an_engine_is_closed_after_an_error_while_it_is_lent_and_only_then():
    pool, settings = EnginePool(), Settings()
    with pool.lent(settings, "nano", 100) as (engine, spent):
        engine.tokens = 12
        assert spent() == {"generated_tokens": 7}
    assert not engine.is_closed
    with pytest.raises(KeyError), pool.lent(settings, "nano", 100) as (again, _):
        assert again is engine
        raise KeyError
    assert engine.is_closed


def test_counts_are_a_cells_own_and_sizes_are_not_subtracted():
    before = {
        "cost_dollars": 0.5,
        "generated_tokens": 10,
        "weights_gb": 15.2,
        "max_num_seqs": 512,
        "cache_block_tokens": 16,
    }
    after = {
        "cost_dollars": 0.75,
        "generated_tokens": 25,
        "weights_gb": 15.2,
        "max_num_seqs": 512,
        "cache_block_tokens": 16,
        "num_preemptions": 1,
    }
    assert spent_between(before, after) == after | {"cost_dollars": 0.25, "generated_tokens": 15}
