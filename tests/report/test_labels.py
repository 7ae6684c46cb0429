"""Labels tell the arms of a run apart, and no more; lines stand in an order that readers expect."""

import pytest

from icpo.report.cells import ArmKey
from icpo.report.labels import arm_labels, line_of, place, rules_name


def key(
    method="me_icpo", reward="majority", selector="entropy", n=5, k=16, m=16, label=None, benchmark="amc"
):
    usual = f"me_icpo-{reward}-{selector}-n{n}-k{k}-m{m}" if method == "me_icpo" else method
    return ArmKey(
        "nano", method, reward, selector, "quick", n, k, m, benchmark, 16, usual if label is None else label
    )


def labels(*keys):
    found = arm_labels(keys)
    return [found[line_of(one)] for one in sorted(keys, key=place)]


def test_one_me_icpo_needs_no_more_than_its_name():
    assert labels(key(), key(benchmark="aime2024")) == ["w/ ME-ICPO"] * 2
    assert labels(key(), key("direct"), key("direct_empty_history")) == [
        "base", "base (empty_history)", "w/ ME-ICPO"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("alone", "label"),
    [
        (key(selector="mine"), "ME-ICPO, mine selector"),
        (key(reward="none"), "ME-ICPO, w/o reward"),
        (key(label="me_icpo-racing_early_stop"), "ME-ICPO, racing_early_stop"),
    ],
)
def test_a_lone_me_icpo_with_other_rules_does_not_pass_for_the_papers(alone, label):
    assert labels(alone, key("direct")) == ["base", label]


def test_a_sweep_with_other_rules_names_them_beside_what_was_swept():
    assert labels(key(selector="mine", n=1), key(selector="mine", n=2)) == [
        "ME-ICPO, mine selector, n=1", "ME-ICPO, mine selector, n=2"
    ]  # fmt: skip


def test_an_ablation_is_told_apart_by_its_rules_alone():
    arms = [
        key(reward=r, selector=s) for r, s in (("oracle", "entropy"), ("none", "random"), ("none", "entropy"))
    ]
    assert labels(*arms, key(selector="random"), key()) == [
        "ME-ICPO, full", "ME-ICPO, w/o entropy", "ME-ICPO, w/o reward", "ME-ICPO, w/o reward, w/o entropy",
        "ME-ICPO, oracle",
    ]  # fmt: skip


def test_a_sweep_is_told_apart_by_what_was_swept_in_the_order_of_numbers():
    assert labels(key(n=1, k=16), key(n=1, k=2), key(n=10, k=2), key(n=2, k=2)) == [
        "ME-ICPO, n=1, k=2", "ME-ICPO, n=1, k=16", "ME-ICPO, n=2, k=2", "ME-ICPO, n=10, k=2"
    ]  # fmt: skip


def test_a_label_of_its_own_is_kept_and_stands_last():
    assert labels(key(label="me_icpo-answer_only", n=3), key()) == ["ME-ICPO, full", "ME-ICPO, answer_only"]


def test_other_methods_keep_their_labels_in_the_order_of_numbers():
    arms = [key("self_consistency", label=f"self_consistency-s{s}") for s in (128, 16)]
    assert labels(*arms) == ["self_consistency-s16", "self_consistency-s128"]


@pytest.mark.parametrize(
    ("reward", "selector", "name"),
    [
        ("majority", "entropy", "full"),
        ("inverted", "entropy", "inverted reward"),
        ("majority", "max_entropy", "max_entropy selector"),
        ("majority", "none", "every attempt kept"),
        ("none", "random", "w/o reward, w/o entropy"),
    ],
)
def test_rules_are_named_as_the_paper_names_them(reward, selector, name):
    assert rules_name(reward, selector) == name
