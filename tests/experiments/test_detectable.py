"""What a paired test finds, by hand."""

import pandas as pd
import pytest

from tests.experiments.scripts import load


def rows(cell, values, seed=0):
    return [
        {"run": "r", "cell": cell, "num_rounds": 0, "benchmark": "b", "backbone": "nano", "k": 4,
         "question_id": f"q{i}", "seed": seed, "mean_at_k": value}
        for i, value in enumerate(values)
    ]  # fmt: skip


def test_detectable_is_2_8_standard_errors():
    script = load("detectable/make_table")
    assert script.detectable(0.3, 36) == pytest.approx(2.8016 * 0.05, abs=1e-4)


def test_the_sd_is_of_paired_differences_of_means_over_seeds():
    script = load("detectable/make_table")
    arms = rows("a", [1, 0.5]) + rows("a", [0, 0.5], 1) + rows("b", [0.5, 0.0]) + rows("b", [0.5, 0.0], 1)
    sds, num_questions = script.pair_sds(pd.DataFrame(arms))
    assert num_questions == 2 and sds == [pytest.approx(0.5 / 2**0.5)]
    [one, two] = script.rows_of(pd.DataFrame(arms))
    assert (one[2], two[2]) == ("1", "2") and one[3:6] == ["4", "2", "1"]


def test_the_papers_differences_on_aime_are_listed():
    table = {(row[0], row[2]): row[3:] for row in load("detectable/make_table").paper_rows()}
    assert table["qwen7b", "direct"] == ["+19.4", "38"] and table["qwen1_5b", "direct"] == ["+3.3", "7"]
