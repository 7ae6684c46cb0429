"""Claims of the theory experiments, on results made by hand."""

import torch

from icpo.lab.theory.kl_sandwich import near_uniform, proof_claims, two_armed_counterexample
from icpo.lab.theory.realisability import check_metrics, realisability_claims
from icpo.lab.theory.reward_shock import range_claim
from icpo.theory.bandit import seeded
from icpo.theory.teacher import TeacherRecipe


def test_condition_for_realisability_is_judged_on_every_kind_of_metric():
    kinds = check_metrics(0.5, 1.0, 0.2, num_arms=[3, 4], num_metrics=2, seed=0)
    every, exact = realisability_claims(kinds, [3, 4])
    assert (every.holds, exact.holds) == (False, True)
    assert "8 of 8" in exact.evidence
    kinds["one_row"].gaps[0] = 1e-3
    assert not realisability_claims(kinds, [3, 4])[1].holds


def test_range_of_b_is_reachable_where_both_ends_are_ordinary():
    ends = [[0.11, 0.20], [0.124, 0.214], [0.13, 0.23]]
    narrow = [[0.11, 0.22], [0.124, 0.225], [0.13, 0.23]]
    recipe = TeacherRecipe("identity", 2.8, scale=2.0)
    assert range_claim(recipe, {(2.0, 2.8): ends, (1.0, 2.8): narrow}, 256).holds
    assert not range_claim(recipe, {(2.0, 2.8): narrow, (1.0, 2.8): ends}, 256).holds


def test_lower_end_is_refuted_by_the_counterexample_alone():
    tally = {
        "students": 3,
        "upper_violations": 0,
        "lower_violations": 0,
        "lower_violations_repaired": 0,
    }
    uniform = near_uniform(4, 0.1, seeded(0, "cpu"))
    counterexample = two_armed_counterexample(torch.tensor([10.0], dtype=torch.float64), 0.05)
    upper, lower, near, repaired = proof_claims(tally, 0.7, counterexample, uniform)
    assert (upper.verdict, lower.verdict) == ("holds", "fails")
    assert (near.verdict, repaired.verdict) == ("identity", "identity")
