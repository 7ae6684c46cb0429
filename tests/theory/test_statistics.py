import pytest
import torch

from icpo.theory.policies import fisher, project
from icpo.theory.rollout import rollout
from icpo.theory.statistics import Quadratic, collect, root
from tests.theory.build import draws, teacher


def direct(expert, drawn):
    """Features, labels and Gamma-hat of all prefixes, written out as the main text has them."""
    played = rollout(expert, drawn)
    prefixes = played.histories[1:-1]
    features = torch.cat([history.features_BF for history in prefixes])
    labels = torch.cat([project(expert.logits(history)) for history in prefixes])
    gamma_hat = torch.cat([fisher(policy) for policy in played.policies[:-1]]).mean(0)
    return features, labels, gamma_hat


def direct_loss(operator, features, labels, gamma_hat):
    error = features[:, : operator.shape[1]] @ operator.T - labels
    return 0.5 * (error @ gamma_hat * error).sum(-1).mean()


@pytest.mark.parametrize("num_features", [8, 10])
@pytest.mark.parametrize("metric", ["identity", "random_spd"])
def test_loss_is_the_main_texts(metric, num_features):
    expert, drawn = teacher(4, metric), draws(num_tasks=50)
    quadratic = Quadratic.of(collect(expert, drawn), num_features)
    operators = project(torch.randn(3, 4, num_features, generator=torch.Generator().manual_seed(0)).mT).mT
    by_hand = [direct_loss(operator, *direct(expert, drawn)) for operator in operators]
    torch.testing.assert_close(quadratic.loss(operators), torch.stack(by_hand))


def test_gradient_and_hessian_are_the_lemmas():
    expert, drawn = teacher(4), draws(num_tasks=50)
    features, labels, gamma_hat = direct(expert, drawn)
    z, M = features[:, :8], len(features)
    W = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    computed = torch.func.grad(lambda operator: direct_loss(operator, features, labels, gamma_hat))
    torch.testing.assert_close(computed(W), gamma_hat @ (W @ z.T @ z - labels.T @ z) / M)
    direction = torch.randn(4, 8, generator=torch.Generator().manual_seed(1))
    _, change = torch.func.jvp(computed, (W,), (direction,))
    torch.testing.assert_close(change, gamma_hat @ direction @ z.T @ z / M)


def test_least_squares_is_the_teacher():
    expert = teacher(4, "random_spd")
    operator = collect(expert, draws(num_tasks=50)).least_squares(8, 1e-10)
    torch.testing.assert_close(operator, expert.operator_KZ, atol=1e-12, rtol=0)


def test_features_beyond_the_two_channels_get_no_weight():
    operator = collect(teacher(4), draws(num_tasks=50)).least_squares(10, 1e-12)
    assert operator[:, 8:].abs().max() < 1e-11


def test_blocks_and_threads_change_nothing():
    expert, drawn = teacher(4), draws(num_tasks=50)
    whole, blocked = collect(expert, drawn), collect(expert, drawn, block_size=7)
    assert blocked.num_prefixes == whole.num_prefixes == 50 * 7
    torch.testing.assert_close(blocked.moment_sum_FF, whole.moment_sum_FF)
    torch.testing.assert_close(blocked.fisher_KK, whole.fisher_KK)


def test_fisher_averages_the_policies_played_before_the_last_round():
    expert, drawn = teacher(4), draws(num_tasks=50)
    torch.testing.assert_close(collect(expert, drawn).fisher_KK, direct(expert, drawn)[2])


def test_root_squares_back_and_survives_rounding_below_zero():
    matrix = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    torch.testing.assert_close(root(matrix) @ root(matrix), matrix)
    assert root(torch.diag(torch.tensor([1.0, -1e-18]))).isfinite().all()


def test_one_round_trains_nothing():
    with pytest.raises(ValueError, match="at least 2 rounds"):
        collect(teacher(4), draws(num_rounds=1))
