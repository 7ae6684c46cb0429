"""Decay along exact flows: what counts as a violation of a rate."""

import pytest
import torch

from icpo.lab.theory.convergence import Decay
from icpo.theory.flow import Flow


@pytest.fixture
def decay():
    """Gamma = 1 on 1-perp and Sigma = 1, but 0.1 along (0, 1), which S does not see."""
    ones = torch.tensor([0.0, 0, 0, 1, 1, 1], dtype=torch.float64) / 3**0.5
    moment = torch.eye(6, dtype=torch.float64) - 0.9 * torch.outer(ones, ones)
    fisher = torch.eye(3, dtype=torch.float64) - 1 / 3
    flow = Flow.of(torch.zeros(3, 6, dtype=torch.float64), fisher, moment)
    return Decay.of(flow, num_starts=5, horizon=1.0, num_records=50, seed=0)


def test_rates_are_those_of_s_and_of_the_whole_space(decay):
    assert (decay.mu_on_s, decay.mu_everywhere) == (pytest.approx(1.0), pytest.approx(0.1))


def test_starts_outside_s_are_slower_than_the_rate_on_s_and_none_than_the_slowest(decay):
    assert decay.violations(decay.mu_on_s) == 6  # the slowest start and all five normal ones
    assert decay.violations(decay.mu_everywhere) == 0
    assert decay.excess(decay.mu_on_s)[1] == pytest.approx(1)


def test_normal_starts_end_at_the_slowest_rate(decay):
    assert decay.final_rates() == pytest.approx(torch.ones(5).numpy(), rel=1e-2)
