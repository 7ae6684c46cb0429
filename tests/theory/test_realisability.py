"""The exact condition for a teacher within the paper's LSA, proved again for K = 3 by Groebner bases."""

import pytest
import sympy
import torch

from icpo.theory.bandit import seeded
from icpo.theory.lsa import Lsa, feature_operator
from icpo.theory.realisability import (
    candidate_lsa,
    has_equal_rows,
    is_realisable,
    lone_row,
    query_bias,
    sample_metric,
)
from icpo.theory.rollout import policy_gaps
from icpo.theory.teacher import Teacher
from tests.theory.build import draws

ONE_COLUMN = [[1, 1, 1], [1, 3, 2], [1, 2, 4]]  # U e_1 = 1, though U1 is not parallel to 1


def gap(H, penalty=0.7, attends_query=True):
    expert = Teacher.of(H, penalty, 1.0, 0.2)
    lsa = candidate_lsa(H, penalty, 1.0, 0.2, attends_query)
    return policy_gaps(lsa, expert, draws(num_arms=len(H), num_tasks=10, num_rounds=12)).max().item()


def test_a_column_parallel_to_one_suffices():
    H = torch.linalg.inv(torch.tensor(ONE_COLUMN, dtype=torch.float64))
    assert not has_equal_rows(H)
    assert (lone_row(H), is_realisable(H, 0.7)) == (0, True)
    assert gap(H) < 1e-13


@pytest.mark.parametrize("num_arms", [2, 3, 6])
@pytest.mark.parametrize("kind", ["equal_rows", "one_row"])
def test_explicit_weights_play_the_teachers_of_the_condition(kind, num_arms):
    for seed in range(5):
        H = sample_metric(kind, num_arms, seeded(seed, "cpu"))
        assert torch.linalg.eigvalsh(H)[0] > 0
        assert is_realisable(H, 0.7)
        assert gap(H) < 1e-11


@pytest.mark.parametrize("num_arms", [3, 6])
def test_a_generic_metric_is_realised_without_penalty_or_without_the_query_alone(num_arms):
    H = sample_metric("generic", num_arms, seeded(0, "cpu"))
    assert not is_realisable(H, 0.7)
    assert query_bias(candidate_lsa(H, 0.7, 1.0, 0.2, True)) > 1e-3
    assert gap(H) > 1e-3
    assert is_realisable(H, 0.0)
    assert gap(H, penalty=0.0) < 1e-12
    assert gap(H, attends_query=False) < 1e-12


def has_solution(U, penalty):
    """Whether any complex weights give the LSA's operator the teacher's, all of its 2K + 2 columns."""
    m, w = sympy.Matrix(2, 3, sympy.symbols("m:6")), sympy.Matrix(sympy.symbols("w:2"))
    *phi, phi2 = sympy.symbols("f:4")
    projected = sympy.Matrix([[2, -1, -1], [-1, 2, -1]]) / 3 * sympy.Matrix(U)
    equations = [sum(phi) * m[r, :].dot([1, 1, 1]) for r in range(2)] + [phi2 * w[r] for r in range(2)]
    for i in range(3):
        for r in range(2):
            equations.append(phi[i] * m[r, i] + penalty * projected[r, i])
            equations.append(phi2 * m[r, i] + phi[i] * w[r] - projected[r, i])
    return sympy.groebner(equations, *m, *w, *phi, phi2, order="grevlex").exprs != [1]


@pytest.mark.parametrize(
    "U",
    [
        ONE_COLUMN,
        [[3, 1, 1], [1, 3, 1], [1, 1, 3]],
        [[2, 1, 0], [1, 2, 1], [0, 1, 4]],
        [[5, 1, 2], [1, 3, 1], [2, 1, 4]],
        [[4, 2, 1], [2, 3, 2], [1, 2, 4]],
        [[2, 0, 0], [0, 3, 0], [0, 0, 5]],
        [[4, 1, 1], [1, 2, 2], [1, 2, 7]],
    ],
)
@pytest.mark.parametrize("penalty", [0, sympy.Rational(7, 10)])
def test_condition_is_that_of_the_equations_themselves(U, penalty):
    H = torch.linalg.inv(torch.tensor(U, dtype=torch.float64))
    assert has_solution(U, penalty) == is_realisable(H, float(penalty))


def nearing_lsa(U, penalty, epsilon):
    """H1 parallel to e_2 + e_3: weights of order 1/epsilon come within epsilon of the teacher."""
    U = torch.tensor(U, dtype=torch.float64)
    phi = torch.tensor([-penalty * epsilon, 1.0, -1 + penalty * epsilon])
    W_PV, W_KQ = torch.zeros(2, 4, 4)
    W_PV[:3, 3] = U[:, 1]
    W_PV[:3, :3] = -penalty * U / phi
    W_PV[:3, 0] = U[:, 0] / epsilon + penalty * U[:, 1]
    W_KQ[:, :3] = torch.cat([phi, torch.tensor([epsilon])])[:, None] / 3
    return Lsa(W_PV, W_KQ, 0.2, True)


def test_two_equal_rows_among_zeros_are_approached_and_not_reached():
    """Such H are the exception: the loss has no positive lower bound, and no minimiser either."""
    U, penalty = [[4.0, 1.0, 1.0], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0]], 0.7
    H = torch.linalg.inv(torch.tensor(U, dtype=torch.float64))
    assert H.sum(1).tolist() == pytest.approx([0, 0.5, 0.5])
    assert not is_realisable(H, penalty)
    assert not has_solution([[4, 1, 1], [1, 2, 0], [1, 0, 2]], sympy.Rational(7, 10))
    target = torch.cat([Teacher.of(H, penalty, 1.0, 0.2).operator_KZ, torch.zeros(3, 2)], 1)
    distances = []
    for epsilon in (1e-2, 1e-3, 1e-4):
        lsa = nearing_lsa(U, penalty, epsilon)
        distances.append(torch.dist(feature_operator(lsa.W_PV, lsa.W_KQ, True), target).item())
    assert distances[0] < 0.1
    assert distances[1] == pytest.approx(distances[0] / 10, rel=0.1)
    assert distances[2] == pytest.approx(distances[1] / 10, rel=0.1)
