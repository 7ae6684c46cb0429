import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from icpo.lab.theory.shock import Bound, Shock, crossing_constant, drift
from tests.theory.build import draws, teacher

PARTNERS = torch.rand(20, 8, 2, generator=torch.Generator().manual_seed(5))


@given(st.floats(0.01, 3), st.floats(0.01, 2), st.integers(1, 5))
def test_recursion_with_equality_is_the_product(a, b, s):
    shock, T = Shock(s, -2.0), 40
    sums, values = 0.0, []
    for t in range(s, T + 1):
        values.append(a * 2.0 / t + b / t * sums)
        sums += values[-1]
    by_formula = Bound(a, torch.tensor([b])).recursion(shock, T)
    torch.testing.assert_close(by_formula, torch.tensor([values]), rtol=1e-9, atol=0)


@given(st.floats(0.01, 3), st.integers(1, 50))
def test_e_to_the_b_makes_the_closed_form_a_bound_on_the_recursion(b, s):
    bound, shock = Bound(1.0, torch.tensor([b])), Shock(s, 1.0)
    assert (bound.recursion(shock, 500) <= bound.closed_form(shock, 500) * (1 + 1e-12)).all()


@pytest.mark.parametrize("b", [0.1, 0.5, 0.9])
def test_one_over_gamma_of_one_plus_b_is_the_tight_constant_below_one(b):
    """At s = 1 the recursion over (1/s)(t/s)^(b-1) rises to 1/Gamma(1+b); no smaller constant will do."""
    bound, T = Bound(1.0, torch.tensor([b])), 200_000
    t = torch.arange(1, T + 1)
    ratios = bound.recursion(Shock(1, 1.0), T)[0] / t ** (b - 1)
    tight = 1 / math.gamma(1 + b)
    assert ratios.max().item() <= max(1.0, tight)
    assert ratios[-1].item() == pytest.approx(tight, rel=1e-4)
    assert tight <= math.exp(b)


@pytest.mark.parametrize("num_arms", [2, 3, 4, 6])
def test_crossing_constant_is_the_largest_over_all_directions(num_arms):
    """sup of sqrt(2) ||cumsum(d)||_1 over unit d that sum to zero, by its dual over signs."""
    norms = []
    for signs in itertools.product((-1.0, 1.0), repeat=num_arms - 1):
        weights = torch.tensor([sum(signs[j:]) for j in range(num_arms)])
        norms.append(torch.linalg.vector_norm(weights - weights.mean()).item())
    assert crossing_constant(num_arms) == pytest.approx(math.sqrt(2) * max(norms))


def test_both_couplings_have_one_constant_for_two_arms_and_not_for_three():
    assert crossing_constant(2) == pytest.approx(math.sqrt(2 / 2))
    assert crossing_constant(3) > math.sqrt(3 / 2)


def test_constants_by_hand():
    expert = teacher(2, penalty=0.5, step_size=0.5, gamma=0.8)
    bound = Bound.of(expert, torch.tensor([[1.0, -2.0], [0.5, 0.5]]), 0.1, "maximal")
    assert bound.a == pytest.approx(0.05)
    assert bound.b_B.tolist() == pytest.approx([0.05 * (2.5 + 0.1), 0.05 * (0 + 0.1)])
    wider = Bound.of(teacher(5), torch.zeros(1, 5), 0.1, "inverse_cdf").b_B
    narrow = Bound.of(teacher(5), torch.zeros(1, 5), 0.1, "maximal").b_B
    assert (wider / narrow).item() == pytest.approx(math.sqrt(8))


@pytest.mark.parametrize("coupling", ["inverse_cdf", "maximal"])
def test_no_shock_no_drift(coupling):
    played = drift(teacher(4), draws(), Shock(2, 0.0), coupling, PARTNERS)
    assert played.norm_BT.shape == (20, 7)
    assert played.norm_BT.max() == 0


@pytest.mark.parametrize("coupling", ["inverse_cdf", "maximal"])
def test_first_drift_is_the_same_under_both_couplings_and_not_zero(coupling):
    played = drift(teacher(4), draws(), Shock(2, 1.0), coupling, PARTNERS)
    other = drift(teacher(4), draws(), Shock(2, 1.0), "inverse_cdf", PARTNERS)
    torch.testing.assert_close(played.norm_BT[:, 0], other.norm_BT[:, 0])
    assert played.norm_BT[:, 0].min() > 0


def test_drift_right_after_the_shock_obeys_the_first_step_of_the_recursion():
    expert = teacher(4)
    played = drift(expert, draws(num_tasks=20), Shock(3, 1.0), "maximal", PARTNERS)
    bound = Bound.of(expert, draws().tasks_BK, 0.4, "maximal")
    assert (played.norm_BT[:, 0] <= bound.a / 3).all()


def test_shock_in_round_zero_is_refused():
    with pytest.raises(ValueError, match="round"):
        Shock(round=0, size=1.0)
