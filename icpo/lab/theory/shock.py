"""One shocked reward: coupled trajectories and bounds on their drift.

Shapes: B tasks, K arms, T rounds.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import PositiveInt
from torch import Tensor

from icpo.theory.bandit import Draws, History, reward
from icpo.theory.policies import (
    inverse_cdf_mismatch,
    sample_inverse_cdf,
    sample_maximal_coupling,
    total_variation,
)
from icpo.theory.rollout import Player
from icpo.theory.teacher import Teacher
from icpo.types import validated

Coupling = Literal["inverse_cdf", "maximal"]


@validated
class Shock:
    """A shock: `size` is added to the reward of one round."""

    round: PositiveInt
    size: float


@dataclass(frozen=True, slots=True)
class Drift:
    """A shock's effect on later policies, each (B, T-s+1).

    Of rounds s+1..T+1. `mismatch` is the probability, given both policies, that inverse-CDF sampling from one
    uniform gives different arms, `variation` their total variation, which the paper takes it for.
    """

    norm_BT: Tensor
    mismatch_BT: Tensor
    variation_BT: Tensor


def drift(player: Player, draws: Draws, shock: Shock, coupling: Coupling, partners_BT2: Tensor) -> Drift:
    """Play the draws with and without the shock, coupled.

    Compares the policies after it. Tasks and noise are shared. `inverse_cdf` shares the uniforms too, as the
    paper does; `maximal` lets the shocked run keep the other's arm as often as its policy allows, with
    `partners_BT2` as the uniforms for that.
    """
    base = shocked = History.empty(draws.tasks_BK)
    compared = []
    for t in range(draws.num_rounds):
        noise_B = draws.noise_BN[:, t]
        p_BK, q_BK = player.policy(base), player.policy(shocked)
        if t >= shock.round:
            compared.append(_compare(p_BK, q_BK))
        base_arms = sample_inverse_cdf(p_BK, draws.uniforms_BN[:, t])
        if t < shock.round:
            arms = base_arms
        elif coupling == "maximal":
            arms = sample_maximal_coupling(p_BK, q_BK, base_arms, partners_BT2[:, t])
        else:
            arms = sample_inverse_cdf(q_BK, draws.uniforms_BN[:, t])
        base = base.then(base_arms, reward(draws.tasks_BK, base_arms, noise_B))
        added = shock.size if t + 1 == shock.round else 0.0
        shocked = shocked.then(arms, reward(draws.tasks_BK, arms, noise_B) + added)
    compared.append(_compare(player.policy(base), player.policy(shocked)))
    return Drift(*(torch.stack(column, 1) for column in zip(*compared, strict=True)))


def _compare(p_BK: Tensor, q_BK: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    norm_B = torch.linalg.vector_norm(q_BK - p_BK, dim=-1)
    return norm_B, inverse_cdf_mismatch(p_BK, q_BK), total_variation(p_BK, q_BK)


@dataclass(frozen=True, slots=True)
class Bound:
    """The recursion a_{t+1} <= a |delta| / t + (b/t) (a_s + .. + a_t), with one b for each task."""

    a: float
    b_B: Tensor

    @classmethod
    def of(
        cls, teacher: Teacher, tasks_BK: Tensor, mean_absolute_noise: float, coupling: Coupling
    ) -> "Bound":
        """Theorem 4's a and b, with E|noise| as given, and with the coupling's own constant.

        The paper's sqrt(K/2) is E||x - x'|| <= sqrt(K/2) ||p - p'|| under the maximal coupling. For
        inverse-CDF sampling its place is taken by `crossing_constant`.
        """
        half = teacher.step_size * (1 - teacher.gamma) / 2
        u_norm = torch.linalg.matrix_norm(teacher.U, 2).item()
        slopes_B = torch.linalg.matrix_norm(teacher.V + teacher.U * tasks_BK.unsqueeze(-2), 2)
        K = tasks_BK.shape[-1]
        crossing = math.sqrt(K / 2) if coupling == "maximal" else crossing_constant(K)
        return cls(half * u_norm, half * crossing * (slopes_B + mean_absolute_noise * u_norm))

    def recursion(self, shock: Shock, num_rounds: int) -> Tensor:
        """The recursion with equality, shape (B, T-s+1).

        At rounds s+1..T+1: the sharpest that this proof gives. It telescopes to (a |delta| / t)
        prod_{u=s}^{t-1} (1 + b/u); see docs/theory.md.
        """
        t = torch.arange(shock.round, num_rounds + 1, dtype=torch.float64, device=self.b_B.device)
        growth_BT = 1 + self.b_B.unsqueeze(-1) / t
        products_BT = torch.cat([torch.ones_like(growth_BT[:, :1]), growth_BT[:, :-1].cumprod(-1)], -1)
        return self.a * abs(shock.size) / t * products_BT

    def closed_form(self, shock: Shock, num_rounds: int) -> Tensor:
        """Theorem 4, (a (1 + C_b) / s) (t/s)^(b-1) |delta|, 1 + C_b = e^b, at rounds s+1..T+1, (B, T-s+1)."""
        s = shock.round
        t = torch.arange(s, num_rounds + 1, dtype=torch.float64, device=self.b_B.device)
        b_B1 = self.b_B.unsqueeze(-1)
        return self.a * abs(shock.size) / s * b_B1.exp() * (t / s) ** (b_B1 - 1)


def crossing_constant(num_arms: int) -> float:
    """Smallest C with E||x - x'||_2 <= C ||p - p'||_2 under inverse-CDF sampling: sqrt(K (K^2 - 1) / 6).

    A uniform is an edge's crossing when it falls between the two policies' cumulative sums, so that P(x !=
    x') <= sum_k |F_k - F'_k|, attained for small shifts. That sum is largest, relative to ||p - p'||_2, where
    p - p' falls linearly from the first arm to the last. It is 1 for K = 2, like sqrt(K/2), and larger from K
    = 3.
    """
    return math.sqrt(num_arms * (num_arms**2 - 1) / 6)
