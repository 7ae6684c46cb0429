"""What TTRL changed, told from a made-up cell."""

import json

import pytest

from tests.experiments.scripts import load
from tests.experiments.test_baselines import metrics, write, write_scores

ESTIMATES = ("mean_at_k", "majority_at_k", "pass_at_k")


def estimates(mean):
    return {name: {"value": mean, "low": mean - 0.1, "high": mean + 0.1} for name in ESTIMATES}


@pytest.fixture
def cell(tmp_path):
    """Two questions, one seed: one half right and one wrong before, both right after."""
    trained = {"num_steps": 20, "generated_tokens": 500, "seconds": 12.4}
    made = metrics("ttrl", "ttrl", 0.9, k=2, training=trained, before=estimates(0.25), seeds=[0])
    [cell] = write(tmp_path / "ttrl", made | estimates(0.9))
    write_scores(cell, {"q0": "rr", "q1": "rr"})
    (cell / "before").mkdir()
    write_scores(cell / "before", {"q0": "rw", "q1": "ww"})
    (cell / "training_0").mkdir()
    rewards = [0.2, 0.4, *[0.5] * 16, 0.8, 1.0]
    (cell / "training_0/curve.json").write_text(json.dumps([{"reward": reward} for reward in rewards]))
    return cell


def test_differences_are_paired_and_rewards_are_those_of_the_first_and_last_tenth(cell):
    mean, majority, passed = load("ttrl/make_table").cell_rows(cell)
    assert (mean["metric"], mean["before"], mean["after"]) == (
        "Mean@2", "25.0 [15.0, 35.0]", "90.0 [80.0, 100.0]"
    )  # fmt: skip
    assert mean["difference"] == "+75.0 [-100.0, +100.0]" and passed["difference"].startswith("+50.0")
    assert majority["difference"].startswith("+75.0")
    assert mean["reward, first and last steps"] == "0.30, 0.90"
    assert mean["training tokens/question"] == "250" and mean["training s"] == "12"


def test_a_cell_that_is_not_trained_yet_is_left_out_and_a_run_without_any_is_named(cell, monkeypatch):
    (cell / "metrics.json").write_text("{}")
    script = load("ttrl/make_table")
    assert script.cell_rows(cell) == []
    monkeypatch.setattr("sys.argv", ["make_table.py", "--outputs", str(cell.parents[1])])
    with pytest.raises(SystemExit, match=r"\+exp=ttrl"):
        script.main()
