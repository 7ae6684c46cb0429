"""Ten kills of the vLLM engine, whose samples depend on what else is sampled."""

import pytest

from tests.end_to_end.kill_harness import kill_test

pytestmark = pytest.mark.vllm


def test_ten_kills_keep_every_sample_word_for_word(tmp_path):
    tally = kill_test(10, "vllm", seed=7, folder=tmp_path)
    print(tally)
    assert tally.is_clean, tally
    assert tally.kills == 10
    assert tally.batches_asked > 0
