import pytest
import torch

from icpo.lab.theory.second_moment import moment_bounds, moments_by_round
from icpo.theory.bandit import Bandit, sample_draws, seeded
from icpo.theory.statistics import collect
from tests.theory.build import draws, teacher


def bounds(penalty=0.5, sigma=0.1, gamma=0.2, step_size=1.0):
    bandit = Bandit(num_arms=4, tau_w=1.0, sigma=sigma)
    expert = teacher(4, penalty=penalty, gamma=gamma, step_size=step_size)
    moments = moments_by_round(expert, sample_draws(bandit, 20_000, 12, seeded(0, "cpu")))
    return moment_bounds(expert, bandit, moments)


def test_moments_of_the_rounds_average_to_the_second_moment():
    by_round = moments_by_round(teacher(4), draws(num_tasks=50))
    assert by_round.shape == (7, 8, 8)
    torch.testing.assert_close(by_round.mean(0), collect(teacher(4), draws(num_tasks=50)).second_moment_ZZ)


def test_claims_by_hand_in_the_first_round():
    found = bounds(sigma=0.1)
    assert found.count_measured[0].item() == pytest.approx(0.25, rel=0.05)
    assert found.count_floor[0].item() == pytest.approx(0.05)
    assert found.cross_ceiling[0].item() == pytest.approx(0.8 / 2 * 0.01)
    assert found.total_floor[0].item() == pytest.approx(0.05 - 0.004)


def test_lemma_holds_on_s_in_an_ordinary_setting():
    found = bounds()
    assert (found.total_measured[1:] >= found.total_floor[1:]).all()
    assert (found.count_measured[1:] >= found.count_floor[1:]).all()


def test_cross_block_does_not_vanish_without_noise():
    found = bounds(sigma=0.0, step_size=3.0)
    assert found.cross_ceiling.max() == 0
    assert found.cross_measured[1:].min() > 0.005


def test_heavy_penalty_breaks_the_floor_of_the_counts():
    found = bounds(penalty=100.0)
    assert (found.count_measured[1:] < found.count_floor[1:]).any()
