"""The second moment of z_t round by round, and its lemma.

z_t is (n_t/t, g_t/t); the lemma bounds it from below.

Shapes: N rounds, K arms, Z = 2K.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from icpo.theory.bandit import Bandit, Draws
from icpo.theory.flow import both_perp, one_perp
from icpo.theory.rollout import rollout
from icpo.theory.statistics import tasks_per_block
from icpo.theory.teacher import Teacher


@dataclass(frozen=True, slots=True)
class MomentBounds:
    """Measured blocks of Sigma_t, and the lemma's, each (N-1,).

    On 1-perp, for t = 1..N-1. `count_*` is the smallest eigenvalue of Sigma_nn, `cross_*` the norm of
    Sigma_ng, `total_*` the smallest eigenvalue of Sigma on S = 1-perp + 1-perp. `count_floor` and
    `total_floor` claim a lower bound, `cross_ceiling` an upper one. Paper, Lemma (population second moment).
    """

    count_measured: Tensor
    count_floor: Tensor
    cross_measured: Tensor
    cross_ceiling: Tensor
    total_measured: Tensor
    total_floor: Tensor


def moments_by_round(teacher: Teacher, draws: Draws) -> Tensor:
    """Sigma_t = E[z_t z_t'] for t = 1..N-1 over the teacher's trajectories, shape (N-1, 2K, 2K)."""
    K = draws.tasks_BK.shape[-1]
    total = torch.zeros(draws.num_rounds - 1, 2 * K, 2 * K, dtype=torch.float64, device=draws.tasks_BK.device)
    for block in draws.blocks(tasks_per_block(draws)):
        z_tBZ = torch.stack([h.features_BF[:, : 2 * K] for h in rollout(teacher, block).histories[1:-1]])
        total += z_tBZ.mT @ z_tBZ
    return total / len(draws.tasks_BK)


def moment_bounds(teacher: Teacher, bandit: Bandit, moments_tZZ: Tensor) -> MomentBounds:
    """Measured against the lemma: gamma/(K t), C_b/t with C_b = (1-gamma) c ||U|| sigma^2 / 2, and both."""
    K = bandit.num_arms
    t = torch.arange(1, len(moments_tZZ) + 1, dtype=torch.float64, device=moments_tZZ.device)
    basis = one_perp(K).to(moments_tZZ)
    both = both_perp(K).to(moments_tZZ)
    u_norm = torch.linalg.matrix_norm(teacher.U, 2)
    count_floor = teacher.gamma / (K * t)
    reward_floor = bandit.tau_w**2 * count_floor
    cross_ceiling = (1 - teacher.gamma) / 2 * teacher.step_size * u_norm * bandit.sigma**2 / t
    spread = ((count_floor - reward_floor) ** 2 + 4 * cross_ceiling**2).sqrt()
    return MomentBounds(
        count_measured=torch.linalg.eigvalsh(basis.T @ moments_tZZ[:, :K, :K] @ basis)[:, 0],
        count_floor=count_floor,
        cross_measured=torch.linalg.matrix_norm(basis.T @ moments_tZZ[:, :K, K:] @ basis, 2),
        cross_ceiling=cross_ceiling,
        total_measured=torch.linalg.eigvalsh(both.T @ moments_tZZ @ both)[:, 0],
        total_floor=(count_floor + reward_floor - spread) / 2,
    )
