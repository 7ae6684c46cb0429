import pytest

from icpo.metrics import Estimate
from icpo.reporting.cells import Arm, ArmKey
from icpo.reporting.paper import paper_difference, paper_number, paper_numbers, verdict_of, verdicts


def key(method="me_icpo", reward="majority", selector="entropy", benchmark="aime2024", num_rounds=5, k=16):
    return ArmKey("qwen7b", method, reward, selector, "paper", num_rounds, 16, 16, benchmark, k)


BASE = key(method="direct", reward=None, selector=None, num_rounds=0)


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


@pytest.mark.parametrize("arm", [key(num_rounds=3), key(k=8), key(benchmark="gpqa"), key(selector="none")])
def test_other_settings_have_no_number(arm):
    assert paper_number(arm, "mean_at_k") is None


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
