import pytest
import torch

from icpo.theory.flow import Flow, both_perp, one_perp, smallest_fisher_rate, smallest_moment_on_s
from icpo.theory.statistics import Quadratic, collect
from tests.theory.build import draws, teacher

STATISTICS = collect(teacher(3), draws(num_arms=3, num_tasks=200))
FLOW = Flow.of(STATISTICS)
STARTS = FLOW.target_KZ + torch.randn(4, 3, 6, generator=torch.Generator().manual_seed(0))


def test_excess_loss_is_the_loss():
    torch.testing.assert_close(FLOW.excess_loss(STARTS), Quadratic.of(STATISTICS, 6).loss(STARTS))


def test_exact_flow_is_the_limit_of_small_steps():
    time, num_steps = 20.0, 20_000
    losses = FLOW.euler(STARTS, time / num_steps, num_steps, every=num_steps)
    torch.testing.assert_close(losses[:, -1], FLOW.excess_loss(FLOW.at(STARTS, time)), rtol=2e-4, atol=0)
    torch.testing.assert_close(losses[:, 0], FLOW.excess_loss(STARTS))


def test_flow_stays_where_it_starts_at_time_zero_and_ends_at_the_target():
    torch.testing.assert_close(FLOW.at(STARTS, 0.0), STARTS)
    assert FLOW.excess_loss(FLOW.at(STARTS, 1e6)).max() < 1e-14


def test_loss_falls_no_slower_than_the_smallest_rate_from_anywhere():
    rate = smallest_fisher_rate(STATISTICS.fisher_KK) * FLOW.moment_values_Z[0]
    for time in (1.0, 10.0, 100.0):
        bound = torch.exp(-2 * rate * time) * FLOW.excess_loss(STARTS)
        assert (FLOW.excess_loss(FLOW.at(STARTS, time)) <= bound * (1 + 1e-12)).all()


def test_slowest_start_falls_at_the_smallest_rate():
    rate = smallest_fisher_rate(STATISTICS.fisher_KK) * FLOW.moment_values_Z[0]
    slowest = FLOW.slowest_starts()[:1]
    share = FLOW.excess_loss(FLOW.at(slowest, 50.0)) / FLOW.excess_loss(slowest)
    torch.testing.assert_close(share, torch.exp(-2 * rate * 50.0).expand(1))


def test_rate_on_s_can_exceed_the_slowest_rate():
    """Sigma = Diag(1, 1, 1, 1, 1, 1) but for a small eigenvalue along (0, 1): invisible on S."""
    ones = torch.cat([torch.zeros(3), torch.full((3,), 3**-0.5)])
    moment = torch.eye(6) - 0.9 * torch.outer(ones, ones)
    assert smallest_moment_on_s(moment) == pytest.approx(1.0)
    assert torch.linalg.eigvalsh(moment)[0].item() == pytest.approx(0.1)


def test_bases_are_orthonormal_and_sum_to_zero():
    basis, both = one_perp(5), both_perp(5)
    torch.testing.assert_close(basis.T @ basis, torch.eye(4))
    torch.testing.assert_close(both.T @ both, torch.eye(8))
    assert basis.sum(0).abs().max() < 1e-12
    assert both[:5].sum(0).abs().max() < 1e-12


def test_steps_that_diverge_are_refused():
    with pytest.raises(ValueError, match="diverges"):
        FLOW.euler(STARTS, 1e6, 10, 1)
