"""What we rely on inside vLLM and what may change between versions: short, so that it runs on several.

`make test-vllm-oldest` runs this file alone on the oldest version that can be installed for CPUs.
"""

import multiprocessing
import os
import signal
from collections import Counter
from dataclasses import replace

import pytest

from icpo.errors import EngineError
from tests.vllm.conftest import answers, ask, nano, settings_of

pytestmark = pytest.mark.vllm

TEXT = "Ida has 5 pens and buys 7 more."


@pytest.fixture(scope="module")
def core():
    """An engine in a process of its own, whose weights are dummies."""
    before = set(multiprocessing.active_children())
    settings = settings_of(in_process=False, options={"load_format": "dummy"})
    engine = settings.start(nano(), max_context_tokens=256)
    engine.children = set(multiprocessing.active_children()) - before
    yield engine
    engine.close()


def fixed(num_tokens, num_samples=1, seed=1, temperature=1.0):
    return ask(TEXT, num_samples, seed, max_tokens=num_tokens, min_tokens=num_tokens, temperature=temperature)


def test_dummy_weights_are_made_anew(core):
    """vLLM's own are so small that even at a low temperature every token is as likely as any other."""
    [samples] = answers(core, [fixed(1, 64, temperature=0.01)])
    [(_, most)] = Counter(sample.text for sample in samples).most_common(1)
    assert most >= 4


def test_seeds_are_per_request(core):
    [first] = answers(core, [fixed(12, 4)])
    beside = answers(core, [fixed(12, 8, seed=90), fixed(12, 2, seed=1), fixed(12, 2, seed=3)])
    assert [c.text for part in beside[1:] for c in part] == [c.text for c in first]
    assert len({c.text for c in first}) == 4


def test_samples_start_in_bursts_and_each_step_is_logged(core):
    before = core.accounting()
    lengths = [5 + 7 * i % 23 for i in range(96)]
    done = answers(core, [fixed(n, seed=i) for i, n in enumerate(lengths)])
    after = core.accounting()
    assert [c.num_completion_tokens for [c] in done] == lengths
    num_steps, num_reading = (after[name] - before[name] for name in ("num_steps", "num_reading_steps"))
    assert num_reading <= 8  # one by one it would be about 23
    assert num_steps >= max(lengths)
    assert after["decoding_seconds"] > before["decoding_seconds"]
    assert 0 < after["peak_cache_blocks"] <= after["cache_blocks"]


def test_texts_are_scored_although_the_cache_holds_them(core):
    text = "7" * 150  # longer than a block of the cache
    request = replace(ask(TEXT), scored=(text,))
    first, again = (answers(core, [request])[0][0] for _ in range(2))
    assert first.text == text and first.log_probability < 0
    assert again.log_probability == pytest.approx(first.log_probability, abs=1e-3)


def test_an_aborted_request_leaves_nothing_behind(core):
    core.submit(1, fixed(200, 8))
    core.submit(2, fixed(4))
    core.cancel(1)
    assert [ticket for ticket, _ in core.finished()] == [2]
    with pytest.raises(EngineError, match="in flight"):
        core.finished()


def test_a_killed_engine_core_is_an_error(core):
    [child] = core.children
    core.submit(7, fixed(200, 8))
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(EngineError, match="died"):
        while True:
            core.finished()
