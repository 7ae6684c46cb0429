"""Lines are named by titles, told apart where two are the same, and come in the order that readers expect."""

from dataclasses import replace

from icpo.report.cells import ArmKey
from icpo.report.order import line_names, place

SIZES = ("num_rounds", "num_candidates", "num_lookaheads")
KEY = ArmKey("nano", "me_icpo", "majority", "entropy", "quick", 5, 16, 16, "amc", 16, "l", "full", "ME-ICPO")
BASE = replace(
    KEY, method="direct", reward=None, selector=None, num_rounds=0, num_candidates=0, num_lookaheads=0
)
BASE = replace(BASE, arm="base", title="base")


def names(*keys):
    found = line_names(keys)
    return [found[key.line] for key in keys]


def test_a_line_is_called_by_its_title_on_every_benchmark():
    assert names(KEY, replace(KEY, benchmark="aime2024"), BASE) == ["ME-ICPO", "ME-ICPO", "base"]


def test_lines_of_one_title_differ_by_rounds_else_by_arm_else_by_rules():
    assert names(replace(KEY, num_rounds=1), KEY) == ["ME-ICPO, 1 round", "ME-ICPO, 5 rounds"]
    assert names(KEY, replace(KEY, arm="other")) == ["ME-ICPO (full)", "ME-ICPO (other)"]
    assert names(KEY, replace(KEY, reward="none"))[1] == "ME-ICPO (me_icpo, none, entropy)"
    assert names(KEY, replace(KEY, label="m")) == ["ME-ICPO (1)", "ME-ICPO (2)"]


def test_other_backbones_and_protocols_do_not_change_a_name():
    assert names(KEY, replace(KEY, backbone="other"), replace(KEY, protocol="p")) == ["ME-ICPO"] * 3


def test_bases_come_first_then_the_full_algorithm_then_others_by_size_and_title():
    oracle = replace(KEY, reward="oracle", arm="oracle", title="oracle")
    small, s16, s128 = (replace(KEY, num_rounds=n, title=t) for n, t in ((1, "a"), (5, "s16"), (5, "s128")))
    ordered = sorted([oracle, s128, KEY, s16, BASE, small], key=place)
    assert [key.title for key in ordered] == ["base", "a", "ME-ICPO", "s16", "s128", "oracle"]
