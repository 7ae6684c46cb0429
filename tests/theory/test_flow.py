import itertools
import math

import pytest
import torch

from icpo.theory.flow import (
    Flow,
    average_over_arms,
    both_perp,
    one_perp,
    smallest_moment_off_s,
    smallest_moment_on_s,
)
from icpo.theory.statistics import Quadratic, collect
from tests.theory.build import draws, teacher

STATISTICS = collect(teacher(3), draws(num_arms=3, num_tasks=200))
FLOW = Flow.of_sample(STATISTICS)
STARTS = FLOW.target_KZ + torch.randn(4, 3, 6, generator=torch.Generator().manual_seed(0))


def test_excess_loss_is_the_loss():
    torch.testing.assert_close(FLOW.excess_loss(STARTS), Quadratic.of(STATISTICS, 6).loss(STARTS))


def test_exact_flow_solves_its_equation():
    for time in (0.0, 3.0, 40.0):
        moved, speed = torch.func.jvp(
            lambda t: FLOW.at(STARTS, t), (torch.tensor(time),), (torch.tensor(1.0),)
        )
        torch.testing.assert_close(speed, -FLOW.gradient(moved))


def test_losses_are_those_of_the_exact_flow():
    times = torch.tensor([0.0, 1.0, 30.0])
    by_hand = torch.stack([FLOW.excess_loss(FLOW.at(STARTS, time)) for time in times], -1)
    torch.testing.assert_close(FLOW.losses(STARTS, times), by_hand)


def test_flow_stays_where_it_starts_at_time_zero_and_ends_at_the_target():
    torch.testing.assert_close(FLOW.at(STARTS, 0.0), STARTS)
    assert FLOW.excess_loss(FLOW.at(STARTS, 1e6)).max() < 1e-14


def test_loss_falls_no_slower_than_the_smallest_rate_from_anywhere():
    rate = FLOW.rate
    for time in (1.0, 10.0, 100.0):
        bound = math.exp(-2 * rate * time) * FLOW.excess_loss(STARTS)
        assert (FLOW.excess_loss(FLOW.at(STARTS, time)) <= bound * (1 + 1e-12)).all()


def test_slowest_start_falls_at_the_smallest_rate():
    rate = FLOW.rate
    slowest = FLOW.slowest_starts()[:1]
    share = FLOW.excess_loss(FLOW.at(slowest, 50.0)) / FLOW.excess_loss(slowest)
    torch.testing.assert_close(share, torch.tensor([math.exp(-2 * rate * 50.0)]))


def test_rate_on_s_can_exceed_the_slowest_rate():
    """Sigma = Diag(1, 1, 1, 1, 1, 1) but for a small eigenvalue along (0, 1): invisible on S."""
    ones = torch.cat([torch.zeros(3), torch.full((3,), 3**-0.5)])
    moment = torch.eye(6) - 0.9 * torch.outer(ones, ones)
    assert smallest_moment_on_s(moment) == pytest.approx(1.0)
    assert smallest_moment_off_s(moment) == pytest.approx(0.1)
    assert torch.linalg.eigvalsh(moment)[0].item() == pytest.approx(0.1)


def test_bases_are_orthonormal_and_sum_to_zero():
    basis, both = one_perp(5), both_perp(5)
    torch.testing.assert_close(basis.T @ basis, torch.eye(4))
    torch.testing.assert_close(both.T @ both, torch.eye(8))
    assert basis.sum(0).abs().max() < 1e-12
    assert both[:5].sum(0).abs().max() < 1e-12


@pytest.mark.parametrize("num_arms", [2, 3, 6])
def test_bases_exist_for_every_number_of_arms(num_arms):
    assert both_perp(num_arms).shape == (2 * num_arms, 2 * num_arms - 2)


def test_average_over_arms_is_the_mean_over_all_orders():
    matrix = torch.randn(6, 6, generator=torch.Generator().manual_seed(1))
    orders = [torch.tensor([*order, *(3 + i for i in order)]) for order in itertools.permutations(range(3))]
    by_hand = torch.stack([matrix[order][:, order] for order in orders]).mean(0)
    torch.testing.assert_close(average_over_arms(matrix, 3), by_hand)


def test_a_population_of_exchangeable_arms_obeys_the_rate_on_s_and_its_sample_does_not():
    """A start along the sample's slowest mode is slower than mu on S allows: sampling error alone."""
    expert = teacher(5, penalty=0.5)
    sample = Flow.of_sample(collect(expert, draws(num_arms=5, num_tasks=100, num_rounds=30)))
    population = sample.averaged_over_arms()
    assert sample.rate_on_s > sample.rate * 1.001
    assert population.rate_on_s == pytest.approx(population.rate, rel=1e-10)


def test_a_general_metric_breaks_the_rate_on_s_for_the_population_too():
    expert = teacher(5, "random_spd", step_size=10.0)
    flow = Flow.of_sample(
        collect(expert, draws(num_arms=5, num_tasks=4000, num_rounds=30, tau_w=0.3, sigma=0.1))
    )
    assert flow.rate_on_s > 1.15 * flow.rate
