import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.lab.theory.sandwich import repaired_lower_factor, sandwich, worst_upper_ratio
from icpo.theory.bandit import seeded
from icpo.theory.policies import mixed_policy
from tests.theory.build import tensors

GAMMAS = st.floats(0.01, 0.95)
LOGITS = tensors(5, 4, bound=20)


@settings(deadline=None)
@given(LOGITS, LOGITS, GAMMAS)
def test_upper_end_holds_for_the_appendix_loss(teacher, student, gamma):
    ends = sandwich(teacher, student, mixed_policy(teacher, gamma), gamma)
    assert ends.upper_violations() == 0


@settings(deadline=None)
@given(LOGITS, LOGITS, GAMMAS)
def test_repaired_lower_end_holds(teacher, student, gamma):
    ends = sandwich(teacher, student, mixed_policy(teacher, gamma), gamma)
    assert ends.kl_S >= repaired_lower_factor(teacher, student, gamma) * ends.loss_S * (1 - 1e-9) - 1e-13


def test_lower_end_fails_for_two_arms():
    teacher, a = torch.zeros(1, 2), 5.0
    ends = sandwich(teacher, torch.tensor([[a, -a]]), torch.full((1, 2), 0.5), 0.05)
    assert ends.loss_S.item() == pytest.approx(a**2)
    assert ends.kl_S.item() < 1.17
    assert ends.lower_violations() == 1
    assert ends.upper_violations() == 0


def test_lower_end_fails_for_small_errors_of_saturated_teachers():
    teacher = torch.tensor([[10.0, 0.0, 0.0]])
    student = teacher + torch.tensor([[0.0, 1e-2, -1e-2]])
    ends = sandwich(teacher, student, mixed_policy(teacher, 0.2), 0.2)
    assert ends.lower_ratio_S.item() > 10


def test_lower_end_is_half_the_kl_near_uniform():
    generator = torch.Generator().manual_seed(0)
    teacher, error = 1e-3 * torch.randn(2, 50, 6, generator=generator)
    ends = sandwich(teacher, teacher + error, torch.full((50, 6), 1 / 6), 0.3)
    assert ends.lower_ratio_S.item() == pytest.approx(0.5, abs=1e-3)
    assert ends.summed(30).lower_violations() == 1


def test_agreement_violates_nothing():
    ends = sandwich(torch.zeros(3, 4), torch.ones(3, 4), torch.full((3, 4), 0.25), 0.2)
    assert ends.kl_S.item() == pytest.approx(0, abs=1e-15)
    assert (ends.lower_violations(), ends.upper_violations()) == (0, 0)


def test_adversary_comes_near_the_upper_end_and_never_passes_it():
    ratios = worst_upper_ratio(3, 60, 0.1, num_restarts=2, num_steps=100, generator=seeded(0, "cpu"))
    assert ratios.shape == (2,)
    assert 0.5 < ratios.max() <= 1


def test_cases_are_independent():
    teacher = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
    student, weights = teacher.flip(-1), mixed_policy(teacher, 0.2)
    both = sandwich(teacher, student, weights, 0.2)
    second = sandwich(teacher[1], student[1], weights[1], 0.2)
    torch.testing.assert_close(both.kl_S[1], second.kl_S)
    torch.testing.assert_close(both.loss_S[1], second.loss_S)


def test_summed_loss_is_half_the_sum_over_the_rounds_of_a_trajectory():
    """N = 3 rounds have two prefixes; Gamma = I/2 on 1-perp, and ||Delta||^2 is 2 and 8."""
    student = torch.tensor([[1.0, -1.0], [2.0, -2.0]])
    ends = sandwich(torch.zeros(2, 2), student, torch.full((2, 2), 0.5), 0.2)
    assert ends.loss_S.item() == pytest.approx((1 + 4) / 2)
    assert ends.summed(3).loss_S.item() == pytest.approx((1 + 4) / 2)
    four = sandwich(torch.zeros(3, 2), torch.tensor([[1.0, -1.0]] * 3), torch.full((3, 2), 0.5), 0.2)
    assert four.summed(4).loss_S.item() == pytest.approx(0.5 * 3)


@pytest.mark.parametrize("num_rounds", [2, 3])
def test_upper_end_holds_for_the_summed_loss_in_the_shortest_trajectories(num_rounds):
    ratios = worst_upper_ratio(4, num_rounds, 0.5, num_restarts=2, num_steps=100, generator=seeded(0, "cpu"))
    assert (2 / (num_rounds - 1) * ratios).max() <= 1
