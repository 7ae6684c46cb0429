import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from icpo.theory.flow import one_perp
from icpo.theory.policies import (
    fisher,
    inverse_cdf_mismatch,
    kl_nats,
    mix_uniform,
    mixed_policy,
    project,
    sample_inverse_cdf,
    sample_maximal_coupling,
    softmax,
    total_variation,
)
from tests.theory.build import tensors

GAMMAS = st.floats(0.01, 0.99)


@given(tensors(3, 5, bound=700))
def test_softmax_is_torchs_softmax(logits):
    torch.testing.assert_close(softmax(logits), torch.softmax(logits, -1), atol=1e-15, rtol=1e-12)


@given(tensors(6, bound=50), GAMMAS)
def test_fisher_of_a_mixed_policy_lies_between_gamma_over_k_and_a_half(logits, gamma):
    basis = one_perp(6)
    eigenvalues = torch.linalg.eigvalsh(basis.T @ fisher(mixed_policy(logits, gamma)) @ basis)
    assert gamma / 6 - 1e-12 <= eigenvalues.min()
    assert eigenvalues.max() <= 0.5 + 1e-12


def test_fisher_bounds_are_attained():
    basis = one_perp(3)
    half = torch.linalg.eigvalsh(basis.T @ fisher(torch.tensor([0.5, 0.5, 0.0])) @ basis)[-1]
    third = torch.linalg.eigvalsh(basis.T @ fisher(torch.full((3,), 1 / 3)) @ basis)[0]
    assert half.item() == pytest.approx(0.5)
    assert third.item() == pytest.approx(1 / 3)


@given(tensors(5, bound=20), tensors(5, bound=20))
def test_softmax_is_half_lipschitz(u, v):
    assert torch.dist(softmax(u), softmax(v)) <= 0.5 * torch.linalg.vector_norm(project(u - v)) + 1e-12


def test_half_is_the_best_lipschitz_constant_of_softmax():
    u, v = torch.tensor([1e-4, -1e-4, -50.0]), torch.tensor([-1e-4, 1e-4, -50.0])
    assert (torch.dist(softmax(u), softmax(v)) / torch.dist(u, v)).item() == pytest.approx(0.5, rel=1e-6)


def test_mixing_by_hand_and_out_of_range():
    assert mix_uniform(torch.tensor([1.0, 0.0]), 0.2).tolist() == pytest.approx([0.9, 0.1])
    with pytest.raises(ValueError, match="gamma"):
        mix_uniform(torch.tensor([1.0, 0.0]), 1.2)


def test_inverse_cdf_by_hand():
    policy = torch.tensor([0.2, 0.5, 0.3]).expand(4, 3)
    assert sample_inverse_cdf(policy, torch.tensor([0.0, 0.2, 0.69, 0.999])).tolist() == [0, 1, 1, 2]


def test_inverse_cdf_gives_the_last_arm_what_rounding_leaves():
    policy = torch.full((1, 10), 0.1) - 1e-3
    assert sample_inverse_cdf(policy, torch.tensor([0.9999])).item() == 9


def test_kl_by_hand():
    p, q = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.25, 0.25, 0.5])
    assert kl_nats(p, q).item() == pytest.approx(torch.log(torch.tensor(2.0)).item())


@given(tensors(4, bound=4), tensors(4, bound=4))
def test_mismatch_of_inverse_cdf_lies_between_one_and_k_minus_one_total_variations(u, v):
    p, q = softmax(u), softmax(v)
    mismatch, variation = inverse_cdf_mismatch(p, q), total_variation(p, q)
    assert variation - 1e-12 <= mismatch <= 3 * variation + 1e-12


@given(tensors(2, bound=4), tensors(2, bound=4))
def test_mismatch_of_two_arms_is_the_total_variation(u, v):
    p, q = softmax(u), softmax(v)
    torch.testing.assert_close(inverse_cdf_mismatch(p, q), total_variation(p, q), atol=1e-12, rtol=0)


def test_mismatch_of_mass_moved_from_first_to_last_arm_doubles_with_three_arms():
    p, q = torch.tensor([0.4, 0.3, 0.3]), torch.tensor([0.3, 0.3, 0.4])
    assert total_variation(p, q).item() == pytest.approx(0.1)
    assert inverse_cdf_mismatch(p, q).item() == pytest.approx(0.2)


@pytest.mark.parametrize("coupling", ["inverse_cdf", "maximal"])
def test_couplings_keep_both_marginals_and_mismatch_as_often_as_computed(coupling):
    generator = torch.Generator().manual_seed(0)
    p, q = torch.tensor([0.4, 0.1, 0.5]), torch.tensor([0.1, 0.4, 0.5])
    n = 200_000
    uniforms = torch.rand(n, generator=generator)
    arms = sample_inverse_cdf(p.expand(n, 3), uniforms)
    if coupling == "maximal":
        partners = torch.rand(n, 2, generator=generator)
        others = sample_maximal_coupling(p.expand(n, 3), q.expand(n, 3), arms, partners)
        expected = total_variation(p, q)
    else:
        others = sample_inverse_cdf(q.expand(n, 3), uniforms)
        expected = inverse_cdf_mismatch(p, q)
    assert torch.bincount(arms).div(n).tolist() == pytest.approx(p.tolist(), abs=0.005)
    assert torch.bincount(others).div(n).tolist() == pytest.approx(q.tolist(), abs=0.005)
    assert (arms != others).double().mean().item() == pytest.approx(expected.item(), abs=0.005)
