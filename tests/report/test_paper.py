from dataclasses import asdict, replace

import pytest

from icpo.report.cells import ArmKey
from icpo.report.frame import run_frame
from icpo.report.paper import KEY, beside_paper, comparison, numbers_of, paper_numbers, paper_value
from tests.report.stored_runs import MadeUpCell, me_icpo

SIZES = ("num_rounds", "num_candidates", "num_lookaheads")
ARM = ArmKey("qwen7b", "me_icpo", "majority", "entropy", "paper", 5, 16, 16, "aime2024", 16)
BASE = replace(
    ARM, method="direct", reward=None, selector=None, num_rounds=0, num_candidates=0, num_lookaheads=0
)


def printed(key, metric):
    return paper_value({**asdict(key), "metric": metric})


@pytest.mark.parametrize(
    ("key", "metric", "expected"),
    [
        (BASE, "mean_at_k", 0.1104),  # paper, Table 1
        (ARM, "mean_at_k", 0.3042),
        (ARM, "accuracy", 0.3005),
        (replace(ARM, benchmark="math_l5"), "accuracy", 0.3171),
        (replace(ARM, reward="none"), "mean_at_k", 0.1917),  # paper, Table 2
        (replace(ARM, selector="random"), "accuracy", 0.0577),
        (replace(ARM, reward="oracle"), "mean_at_k", 0.3812),
        (replace(ARM, method="ttrl", reward=None, selector=None), "mean_at_k", 0.272),
    ],
)
def test_values_printed_in_the_paper(key, metric, expected):
    assert printed(key, metric) == expected


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
    assert printed(replace(ARM, **changes), "mean_at_k") is None


def test_costs_are_no_scores():
    assert printed(ARM, "tokens_per_question") is None


def test_one_file_holds_all_numbers_of_each_experiment():
    sizes = {"main_table": 56, "ablation": 12, "backbones": 12, "frontier": 12, "harder": 16, "nk_sweep": 48}
    assert {name: len(numbers_of(name)) for name in sizes} == sizes
    assert numbers_of("gpqa").empty
    numbers = paper_numbers()
    scores = numbers[numbers["metric"].isin(["mean_at_k", "accuracy", "majority_at_k"])]
    assert scores["value"].between(0, 1).all()
    assert not numbers.duplicated([*KEY, "source"]).any()


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    outputs = tmp_path_factory.mktemp("outputs")
    MadeUpCell("aime2024").write(outputs, "run")
    me_icpo("aime2024").write(outputs, "run")
    return run_frame(outputs, "run")


def numbers(*rows):
    first = paper_numbers().iloc[:0]
    base = dict.fromkeys(KEY, "") | {
        "backbone": "nano",
        "method": "direct",
        "benchmark": "aime2024",
        "k": "4",
    }
    base |= {"source": "tab:x", "experiments": "x", "std": None, "tolerance": 0.0}
    return type(first)([base | row for row in rows])


def verdicts(frame, *rows):
    return beside_paper(frame, numbers(*rows))["verdict"].tolist()


def ours(frame, method, metric):
    return frame[(frame["method"] == method) & (frame["metric"] == metric)].iloc[0]


def test_each_number_gets_a_verdict_by_our_interval(frame):
    mean = ours(frame, "direct", "mean_at_k")
    assert verdicts(
        frame,
        {"metric": "mean_at_k", "value": mean.high + 0.01},
        {"metric": "mean_at_k", "value": mean.low - 0.01},
        {"metric": "mean_at_k", "value": mean.high},
        {"metric": "mean_at_k", "value": 0.3, "k": "16"},
    ) == ["below", "above", "within", "not run"]


def test_only_me_icpo_with_m_16_meets_the_paper_s_numbers(frame):
    row = {"method": "me_icpo", "reward": "majority", "selector": "entropy", "num_rounds": "2"}
    row |= {"num_candidates": "4", "metric": "mean_at_k", "value": 0.5}
    assert verdicts(frame, row) == ["not run"]
    looked = frame.assign(num_lookaheads=16)
    assert verdicts(looked, row) != ["not run"]


@pytest.mark.parametrize(("gap", "verdict"), [(0.009, "within"), (0.011, "below")])
def test_bars_read_off_a_figure_are_given_their_tolerance(frame, gap, verdict):
    high = ours(frame, "direct", "mean_at_k").high
    assert verdicts(frame, {"metric": "mean_at_k", "value": high + gap, "tolerance": 0.01}) == [verdict]


def test_a_report_compares_the_lines_that_were_run_and_names_what_was_not(tmp_path):
    MadeUpCell("aime2024", backbone="qwen7b", k=16).write(tmp_path, "run")
    found = comparison(run_frame(tmp_path, "run"))
    assert set(found["method"]) == {"direct"} and set(found["backbone"]) == {"qwen7b"}
    by_place = dict(zip(zip(found["benchmark"], found["metric"], strict=True), found["verdict"], strict=True))
    assert by_place["math_l1", "mean_at_k"] == "not run" != by_place["aime2024", "mean_at_k"]
