"""What an LSA is trained on, as functions of its flattened matrices.

Shapes: S starts, M prefixes, K arms, D = K + 1, F = 2K + 2 features, R residuals, P parameters of one start
(W_PV and W_KQ, flattened).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from icpo.theory.bandit import Draws
from icpo.theory.lsa import feature_operator
from icpo.theory.policies import kl_nats, mixed_policy
from icpo.theory.rollout import rollout
from icpo.theory.statistics import Quadratic, Statistics
from icpo.theory.teacher import Teacher

Objective = Callable[[Tensor], Tensor]


def operator_of(theta_SP: Tensor, num_arms: int, attends_query: bool) -> Tensor:
    """The projected operator on features, shape (S, K, F) or (K, F) for a single start."""
    D = num_arms + 1
    matrices = theta_SP.reshape(*theta_SP.shape[:-1], 2, D, D)
    return feature_operator(matrices[..., 0, :, :], matrices[..., 1, :, :], attends_query)


def fisher_residuals(statistics: Statistics, attends_query: bool) -> Objective:
    """Weighted residuals, shape (S, R) or (R,); half their squared norm is the Fisher-weighted loss."""
    quadratic = Quadratic.of(statistics, num_features=2 * statistics.num_arms + 2)

    def residuals(theta_SP: Tensor) -> Tensor:
        operator = operator_of(theta_SP, statistics.num_arms, attends_query)
        return quadratic.residuals(operator).flatten(-2)

    return residuals


def fisher_loss(statistics: Statistics, attends_query: bool) -> Objective:
    """The empirical Fisher-weighted loss, shape (S,) or scalar. Paper, main text."""
    residuals = fisher_residuals(statistics, attends_query)
    return lambda theta_SP: 0.5 * residuals(theta_SP).square().sum(-1)


def imitation_kl(teacher: Teacher, draws: Draws, attends_query: bool) -> Objective:
    """Mean KL(p_{t+1} || p_hat_{t+1}) in nats over prefixes t = 1..N-1, shape (S,) or scalar."""
    histories = rollout(teacher, draws).histories[1:-1]
    features_MF = torch.cat([history.features_BF for history in histories])
    policies_MK = torch.cat([teacher.policy(history) for history in histories])
    num_arms = policies_MK.shape[-1]

    def loss(theta_SP: Tensor) -> Tensor:
        operator = operator_of(theta_SP, num_arms, attends_query)
        return kl_nats(policies_MK, mixed_policy(features_MF @ operator.mT, teacher.gamma)).mean(-1)

    return loss
