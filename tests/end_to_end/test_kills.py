"""Ten kills of the transformers engine; `make kill-test` does fifty."""

import pytest

from tests.end_to_end.kill_harness import kill_test


@pytest.mark.slow
def test_ten_kills_lose_nothing_and_draw_nothing_twice(tmp_path):
    tally = kill_test(10, "transformers", seed=7, folder=tmp_path)
    print(tally)
    assert tally.is_clean, tally
    assert tally.kills == 10
    assert tally.draws_asked > 0
