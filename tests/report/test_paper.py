from dataclasses import replace

import pytest

from icpo.metrics import Estimate
from icpo.report.cells import Arm, ArmKey
from icpo.report.paper import paper_difference, paper_number, paper_numbers, verdict_of, verdicts

KEY = ArmKey("qwen7b", "me_icpo", "majority", "entropy", "paper", 5, 16, 16, "aime2024", 16)


def key(**changes):
    return replace(KEY, **changes)


BASE = key(method="direct", reward=None, selector=None, num_rounds=0, num_candidates=0, num_lookaheads=0)


@pytest.mark.parametrize(
    ("arm", "metric", "expected"),
    [
        (BASE, "mean_at_k", 0.1104),  # paper, Table 1
        (key(), "mean_at_k", 0.3042),
        (key(), "accuracy", 0.3005),
        (key(benchmark="math_l5"), "accuracy", 0.3171),
        (key(reward="none"), "mean_at_k", 0.1917),  # paper, Table 2
        (key(selector="random"), "accuracy", 0.0577),
        (key(reward="oracle"), "mean_at_k", 0.3812),
        (key(method="ttrl", reward=None, selector=None), "mean_at_k", 0.272),
    ],
)
def test_values_printed_in_the_paper(arm, metric, expected):
    assert paper_number(arm, metric).value == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"num_rounds": 3},
        {"num_candidates": 64},  # a line of the sweep over k is not the main table's
        {"num_lookaheads": 4},
        {"k": 8},
        {"benchmark": "gpqa"},
        {"selector": "none"},
    ],
)
def test_other_settings_have_no_number(changes):
    assert paper_number(key(**changes), "mean_at_k") is None


def test_difference_is_that_of_the_printed_numbers():
    assert paper_difference(key(), BASE, "mean_at_k") == pytest.approx(0.1938)
    assert paper_difference(key(), BASE, "pass_at_k") is None


def test_numbers_are_fractions_and_no_two_stand_for_the_same():
    numbers = paper_numbers()
    assert all(0 <= n.value <= 1 for n in numbers)
    assert len({(n.backbone, n.method, n.reward, n.selector, n.benchmark, n.metric) for n in numbers}) == len(
        numbers
    )


@pytest.mark.parametrize(
    ("paper", "expected"), [(0.1, "above"), (0.2, "within"), (0.4, "within"), (0.5, "below")]
)
def test_verdict_by_interval(paper, expected):
    assert verdict_of(paper, Estimate(0.3, 0.2, 0.4, None)) == expected


def test_verdicts_name_what_was_not_run():
    ours = Arm(key(), "cell", {"mean_at_k": Estimate(0.5, 0.4, 0.6, None)}, (), {})
    found = {(v.paper.benchmark, v.paper.metric): v.verdict for v in verdicts([ours])}
    assert found["aime2024", "mean_at_k"] == "above"
    assert found["math_l1", "mean_at_k"] == found["aime2024", "accuracy"] == "not run"
    assert not [v for v in verdicts([ours]) if v.paper.method == "direct"]
