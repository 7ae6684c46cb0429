"""Kills of the transformers engine, also while rivals search; `make kill-test` does fifty."""

import pytest

from tests.end_to_end.kill_harness import kill_test
from tests.end_to_end.test_rivals import RIVALS


@pytest.mark.slow
def test_ten_kills_lose_nothing_and_draw_nothing_twice(tmp_path):
    tally = kill_test(10, "transformers", seed=7, folder=tmp_path)
    print(tally)
    assert tally.is_clean, tally
    assert tally.kills == 10
    assert tally.draws_asked > 0


@pytest.mark.slow
def test_rivals_survive_kills_as_me_icpo_does(tmp_path):
    tally = kill_test(6, "transformers", seed=3, folder=tmp_path, methods=",".join(RIVALS))
    print(tally)
    assert tally.is_clean, tally
    assert tally.kills == 6
