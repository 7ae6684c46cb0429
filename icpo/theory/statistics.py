"""All that the Fisher-weighted loss needs of the training data, however much there is of it.

Shapes: M prefixes, K arms, F = 2K + 2 features, O = F + K.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor

from icpo.theory.bandit import Draws
from icpo.theory.policies import project
from icpo.theory.rollout import rollout
from icpo.theory.teacher import Teacher

TASKS_PER_BLOCK = 4096  # 29 rounds of these and their features stay in a core's cache.


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over all training prefixes (tau, t), t = 1..N-1, from which the empirical loss follows exactly.

    `factor_OO` is upper triangular with factor' factor = sum of (f, y)(f, y)' over the features f and the
    teacher's projected logits y. A triangle keeps what a Gram matrix would square away: residuals down to
    rounding. `fisher_sum_KK` is the sum of F(p_t) over the policies the teacher played in rounds 1..N-1 (main
    text; the appendix writes p_{t+1} in one place).
    """

    factor_OO: Tensor
    fisher_sum_KK: Tensor
    num_prefixes: int

    @property
    def num_arms(self) -> int:
        """K."""
        return self.fisher_sum_KK.shape[-1]

    @property
    def fisher_KK(self) -> Tensor:
        """Gamma-hat, the average Fisher matrix. Paper, main text."""
        return self.fisher_sum_KK / self.num_prefixes

    @property
    def second_moment(self) -> Tensor:
        """Sigma-hat of z = (n_t/t, g_t/t), (2K, 2K). Paper, Lemma (empirical Fisher-weighted quadratic)."""
        z = self.factor_OO[:, : 2 * self.num_arms]
        return z.T @ z / self.num_prefixes

    def merged(self, other: "Statistics") -> "Statistics":
        """The statistics of both data sets together."""
        stacked = torch.cat([self.factor_OO, other.factor_OO])
        return Statistics(
            torch.linalg.qr(stacked, mode="r").R,
            self.fisher_sum_KK + other.fisher_sum_KK,
            self.num_prefixes + other.num_prefixes,
        )

    def residuals(self, operator_KF: Tensor) -> Tensor:
        """Gamma^(1/2) (A F' - Y') / sqrt(M) up to a rotation, (S, K, O); the loss is half its squared norm.

        `operator_KF` maps the first F' <= F features to logits, so two-channel operators (2K) and LSAs (2K+2)
        both fit. Leading dimensions are independent candidates.
        """
        K, used = self.num_arms, operator_KF.shape[-1]
        predicted = operator_KF @ self.factor_OO[:, :used].T
        scale: float = self.num_prefixes**0.5
        return root(self.fisher_KK) @ (predicted - self.factor_OO[:, -K:].T) / scale

    def loss(self, operator_KF: Tensor) -> Tensor:
        """The main text's empirical loss, 1/(2M) sum ||Proj(s_hat - s)||^2_Gamma-hat, shape (S,)."""
        return 0.5 * self.residuals(operator_KF).square().sum((-2, -1))


def root(psd_KK: Tensor) -> Tensor:
    """The symmetric square root of a positive semidefinite matrix; rounding below zero counts as zero."""
    values, vectors = torch.linalg.eigh(psd_KK)
    root_KK: Tensor = vectors * values.clamp_min(0).sqrt() @ vectors.T
    return root_KK


def collect(teacher: Teacher, draws: Draws) -> Statistics:
    """Run the teacher on the draws and summarise its prefixes t = 1..N-1. Paper, data generation."""
    if draws.num_rounds < 2:
        raise ValueError(f"training needs trajectories of at least 2 rounds, got {draws.num_rounds}")
    return reduce(Statistics.merged, _per_block(teacher, draws))


def _per_block(teacher: Teacher, draws: Draws) -> Iterable[Statistics]:
    for block in draws.blocks(TASKS_PER_BLOCK):
        played = rollout(teacher, block)
        prefixes = played.histories[1:-1]
        rows = torch.cat([torch.cat([h.features_BF, project(teacher.logits(h))], -1) for h in prefixes])
        policies = torch.cat(played.policies[:-1])
        fisher_sum = torch.diag(policies.sum(0)) - policies.T @ policies
        yield Statistics(torch.linalg.qr(rows, mode="r").R, fisher_sum, len(rows))
