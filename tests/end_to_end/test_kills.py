"""Kills of the transformers engine, also while baselines search; `make kill-test` does fifty."""

import pytest

from tests.end_to_end.kill_harness import kill_test
from tests.end_to_end.test_baselines import BASELINES
from tests.reliability import report_row


@pytest.mark.slow
def test_ten_kills_lose_nothing_and_sample_nothing_twice(tmp_path):
    tally = kill_test(10, "transformers", seed=7, folder=tmp_path)
    print(tally)
    assert tally.is_clean, tally
    assert tally.kills == 10
    assert tally.batches_asked > 0
    lost = tally.stored_batches_lost + tally.stored_results_lost
    different = tally.results_that_differ + tally.tables_that_differ
    report_row(
        "SIGKILL at random moments and within 30 ms of a write",
        f"{tally.kills} kills over {tally.runs} runs, {tally.batches_asked} batches asked of the engine",
        f"survived {tally.kills_survived}; batches and results lost {lost}; sampled again "
        f"{tally.stored_batches_asked_again}; results and tables that differ {different}; unsound cells "
        f"{tally.unsound_cells}; processes left behind {tally.orphans}",
    )


@pytest.mark.slow
def test_baselines_survive_kills_as_me_icpo_does(tmp_path):
    tally = kill_test(6, "transformers", seed=3, folder=tmp_path, methods=",".join(BASELINES))
    print(tally)
    assert tally.is_clean, tally
    assert tally.kills == 6


@pytest.mark.slow
def test_kills_of_an_extension_lose_nothing_and_end_as_one_larger_run(tmp_path):
    tally = kill_test(4, "transformers", seed=11, folder=tmp_path, extends=True)
    print(tally)
    assert tally.is_clean, tally
    assert tally.kills == 4
    report_row(
        "SIGKILL while a finished cell is given twice the questions",
        f"{tally.kills} kills over {tally.runs} runs, {tally.batches_asked} batches asked of the engine",
        f"survived {tally.kills_survived}; results and table those of one larger run; sampled again "
        f"{tally.stored_batches_asked_again}",
    )
