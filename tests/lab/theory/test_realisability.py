"""The exact condition for a teacher within the paper's LSA, proved again for K = 3 by Groebner bases."""

import pytest
import sympy
import torch

from icpo.lab.theory.realisability import (
    candidate_lsa,
    has_equal_rows,
    is_realisable,
    lone_row,
    query_bias,
    sample_metric,
)
from icpo.theory.bandit import seeded
from icpo.theory.lsa import Lsa, feature_operator
from icpo.theory.policies import project
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


def metric_with_rows(h_K):
    """A positive definite H with H1 = h."""
    K, normal = len(h_K), torch.randn(len(h_K), len(h_K), generator=torch.Generator().manual_seed(0))
    spd = 50 * project(project(normal @ normal.T + 0.1 * torch.eye(K)).T)
    return spd + (h_K[:, None] + h_K) / K - h_K.sum() / K**2


def nearing_lsa(U, penalty, epsilon, lone):
    """Weights of order 1/epsilon; `lone` are the one or two arms whose W_KQ q stays of order 1."""
    K, (first, *second) = len(U), lone
    image = torch.full((K + 1,), -penalty * epsilon)
    image[K], image[first] = epsilon, 1
    for arm in second:
        image[arm] = -1 + (K - 2) * penalty * epsilon
    shift = penalty * U[:, [first]] / (1 if second else K - 1)
    W_PV, W_KQ = torch.zeros(2, K + 1, K + 1)
    W_PV[:K, :K] = U / epsilon + shift
    W_PV[:K, lone] = -penalty * U[:, lone] / image[lone]
    W_PV[:K, K] = U[:, first]
    W_KQ[:, :K] = image[:, None] / K
    return Lsa(W_PV, W_KQ, 0.2, True)


@pytest.mark.parametrize(("h", "lone"), [([0.0, 1, 1, 1], [0]), ([0.0, 0, 1, 1], [2, 3])])
def test_some_metrics_are_approached_and_not_reached(h, lone):
    """H1 parallel to 1 - e_j or to e_i + e_j: the loss has no positive lower bound, and no minimiser."""
    H, penalty = metric_with_rows(torch.tensor(h)), 0.7
    assert torch.linalg.eigvalsh(H)[0] > 0
    assert not is_realisable(H, penalty)
    expert = Teacher.of(H, penalty, 1.0, 0.2)
    target = torch.cat([expert.operator_KZ, torch.zeros(4, 2)], 1)
    lsas = [nearing_lsa(expert.U, penalty, epsilon, lone) for epsilon in (1e-2, 1e-3, 1e-4)]
    far, near, nearest = (
        torch.dist(feature_operator(lsa.W_PV, lsa.W_KQ, True), target).item() for lsa in lsas
    )
    assert 0 < far < 0.01 * torch.linalg.matrix_norm(target)
    assert near == pytest.approx(far / 10, rel=0.1)
    assert nearest == pytest.approx(near / 10, rel=0.1)
