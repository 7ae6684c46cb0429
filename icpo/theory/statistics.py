"""All that the Fisher-weighted loss needs of the training data, however much there is of it.

Shapes: M prefixes, K arms, Z = 2K entries of z = (n_t/t, g_t/t), F = 2K + 2 features, of which z comes first.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce

import torch
from torch import Tensor

from icpo.theory.bandit import Draws
from icpo.theory.rollout import rollout
from icpo.theory.teacher import Teacher


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over all training prefixes (tau, t), t = 1..N-1: of f f', of y f' and of F(p_t).

    f are the features of a prefix, y the teacher's projected logits after it, and p_t, t = 1..N-1, the
    policies the teacher played. The appendix averages F(p_{t+1}) in one place, without the uniform p_1.
    """

    moment_sum_FF: Tensor
    label_sum_KF: Tensor
    fisher_sum_KK: Tensor
    num_prefixes: int

    @property
    def num_arms(self) -> int:
        """K."""
        return self.fisher_sum_KK.shape[-1]

    @property
    def fisher_KK(self) -> Tensor:
        """Gamma-hat, the average Fisher matrix, (K, K). Paper, main text."""
        return self.fisher_sum_KK / self.num_prefixes

    @property
    def second_moment_ZZ(self) -> Tensor:
        """Sigma-hat of z, (Z, Z). Paper, Lemma (empirical Fisher-weighted quadratic)."""
        num_z = 2 * self.num_arms
        return self.moment_sum_FF[:num_z, :num_z] / self.num_prefixes

    def least_squares(self, num_features: int, tolerance: float) -> Tensor:
        """The operator on the first features that fits the labels best, of least norm, (K, num_features).

        Gamma-hat drops out of the minimiser: it is positive definite on 1-perp, where residuals are.
        Eigenvalues up to `tolerance` times the largest count as zero.
        """
        moments = self.moment_sum_FF[:num_features, :num_features]
        inverse: Tensor = torch.linalg.pinv(moments, rtol=tolerance, hermitian=True)
        return self.label_sum_KF[:, :num_features] @ inverse

    def merged(self, other: "Statistics") -> "Statistics":
        """The statistics of both data sets together."""
        return Statistics(
            self.moment_sum_FF + other.moment_sum_FF,
            self.label_sum_KF + other.label_sum_KF,
            self.fisher_sum_KK + other.fisher_sum_KK,
            self.num_prefixes + other.num_prefixes,
        )


@dataclass(frozen=True, slots=True)
class Quadratic:
    """The empirical loss as a completed square, 1/2 ||Gamma^(1/2) (A - A*) Sigma^(1/2)||^2.

    That is the main text's 1/(2M) sum ||Proj(s_hat - s)||^2_Gamma-hat less its minimum over operators on the
    features, which is 0 for every teacher of Eq. (real-update). Written so, as in the proof of Theorem 2, it
    is accurate down to rounding.
    """

    target_KF: Tensor
    fisher_root_KK: Tensor
    moment_root_FF: Tensor

    @classmethod
    def of(cls, statistics: Statistics, num_features: int) -> "Quadratic":
        """The loss of operators on the first `num_features` features."""
        moments = statistics.moment_sum_FF[:num_features, :num_features] / statistics.num_prefixes
        target = statistics.least_squares(num_features, tolerance=1e-12)
        return cls(target, root(statistics.fisher_KK), root(moments))

    def residuals(self, operator_KF: Tensor) -> Tensor:
        """Gamma^(1/2) (A - A*) Sigma^(1/2), (S, K, F); leading dimensions are independent candidates."""
        return self.fisher_root_KK @ (operator_KF - self.target_KF) @ self.moment_root_FF

    def loss(self, operator_KF: Tensor) -> Tensor:
        """Half the squared norm of the residuals, shape (S,)."""
        return 0.5 * self.residuals(operator_KF).square().sum((-2, -1))


def root(psd: Tensor) -> Tensor:
    """The symmetric square root of a positive semidefinite matrix, same shape.

    Eigenvalues that rounding puts below zero count as zero.
    """
    values, vectors = torch.linalg.eigh(psd)
    symmetric: Tensor = vectors * values.clamp_min(0).sqrt() @ vectors.T
    return symmetric


def collect(teacher: Teacher, draws: Draws, block_size: int | None = None) -> Statistics:
    """Run the teacher on the draws and summarise its prefixes t = 1..N-1. Paper, data generation.

    `block_size` tasks are played at a time; None leaves it to `tasks_per_block`. Raises ValueError for fewer
    than 2 rounds.
    """
    if draws.num_rounds < 2:
        raise ValueError(f"training needs trajectories of at least 2 rounds, got {draws.num_rounds}")
    # Blocks are too small for torch to split one operation among threads: each thread has a block to itself.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        blocks = draws.blocks(block_size or tasks_per_block(draws))
        return reduce(Statistics.merged, pool.map(partial(_summarised, teacher), blocks))


def tasks_per_block(draws: Draws) -> int:
    """How many tasks to play at once: on a CPU as many as stay in a core's cache."""
    return 1024 if draws.tasks_BK.device.type == "cpu" else 65536


def _summarised(teacher: Teacher, draws: Draws) -> Statistics:
    played = rollout(teacher, draws)
    features_MF = torch.cat([history.features_BF for history in played.histories[1:-1]])
    operator_KZ = teacher.operator_KZ
    labels_MK = (
        features_MF[:, : operator_KZ.shape[1]] @ operator_KZ.T
    )  # The projected logits of Eq. (real-update).
    policies_MK = torch.cat(played.policies[:-1])
    return Statistics(
        features_MF.T @ features_MF,
        labels_MK.T @ features_MF,
        torch.diag(policies_MK.sum(0)) - policies_MK.T @ policies_MK,
        len(features_MF),
    )
