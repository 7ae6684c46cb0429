import math

import pytest
import torch

from icpo.lab.theory.recovery import Recovery, coverage, recover, second_moment_error, theorem_prefixes
from icpo.theory.bandit import Bandit, sample_draws, seeded
from icpo.theory.statistics import collect
from tests.theory.build import teacher

BANDIT = Bandit(num_arms=4, tau_w=1.0, sigma=0.5)


def recovery(prefixes, sigma=0.5, num_rounds=5):
    generator, bandit = seeded(0, "cpu"), Bandit(4, 1.0, sigma)
    test = sample_draws(bandit, 5, num_rounds, generator)
    return recover(teacher(4), bandit, num_rounds, prefixes, 20, 30, test, generator)


def test_recovery_sets_in_when_every_arm_was_pulled_twice():
    found = recovery("all")
    assert torch.equal(found.first_exact(1e-8), found.first_full_rank())
    assert torch.equal(found.first_exact(1e-8), found.first_twice())
    assert 2 <= found.first_exact(1e-8).min() <= found.first_exact(1e-8).max() <= 30


def test_one_prefix_for_each_trajectory_needs_as_many_trajectories_as_statistics():
    found = recovery("last")
    assert found.first_full_rank().min() == 8
    assert torch.equal(found.first_exact(1e-8), found.first_full_rank())


def test_without_noise_two_pulls_in_one_trajectory_tell_no_more_than_one():
    found = recovery("all", sigma=0.0, num_rounds=20)
    assert (found.first_exact(1e-8) >= found.first_twice()).all()
    assert (found.first_exact(1e-8) > found.first_twice()).any()


def test_first_counts_from_one_asks_for_lasting_and_says_never():
    gap = torch.tensor([[0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    assert Recovery(gap[0], gap, gap, gap > 0, 8).first_exact(0.5).tolist() == [3, 5, 1]


def test_papers_setting_lies_outside_its_assumption():
    bandit = Bandit(num_arms=10, tau_w=1.0, sigma=0.5)
    assert coverage(bandit, teacher(10)) == pytest.approx(0.02 - 0.1)
    by_hand = 29**2 * (20 + math.log(20)) / 0.08**2
    assert theorem_prefixes(bandit, teacher(10), 29, 0.05) == pytest.approx(by_hand)


def test_theorem_asks_for_infinitely_many_prefixes_at_the_edge():
    assert theorem_prefixes(Bandit(4, 1.0, 0.0), teacher(4, gamma=0.0), 5, 0.1) == math.inf


def test_second_moment_error_falls_and_dependence_slows_it():
    population = collect(teacher(4), sample_draws(BANDIT, 20_000, 11, seeded(9, "cpu"))).second_moment_ZZ

    def error(num_prefixes, independent):
        generator = seeded(1, "cpu")
        return second_moment_error(
            teacher(4), BANDIT, 11, num_prefixes, independent, 40, population, generator
        ).mean()

    assert error(200, True) > 1.7 * error(800, True)
    assert error(200, False) > 1.5 * error(200, True)


def test_mismatch_shares_the_bound_with_the_failures_by_hand():
    """Two of three repeats are off at B = 1, one at B = 2, none at B = 3; the bound is delta/2."""
    gap = torch.tensor([[0.1, 0.0, 0.0], [0.1, 0.1, 0.0], [0.0, 0.0, 0.0]])
    found = Recovery(torch.tensor([0.1, 0.05, 0.0]), gap, gap, gap > 0, 8)
    assert found.mismatch_share(1e-8, 0.5).tolist() == pytest.approx([0.1 / (1 / 3), 0.05 / (1 / 6), 0])


def test_mismatch_stays_below_the_theorems_bound_and_vanishes_with_recovery():
    found = recovery("all")
    assert 0 < found.mismatch_share(1e-8, 0.2).max() <= 1
    assert found.mismatch_B[found.first_exact(1e-8).max() - 1 :].max() < 1e-16
