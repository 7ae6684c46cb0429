"""Theorem 3: from how many trajectories the empirical optimum is the teacher.

Shapes: R repeats of the whole experiment, B trajectories, P prefixes of one of them, K arms, Z = 2K
statistics.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from icpo.theory.bandit import Bandit, Draws, History, sample_draws
from icpo.theory.policies import mixed_policy, project
from icpo.theory.rollout import rollout
from icpo.theory.teacher import Teacher

Prefixes = Literal["all", "last"]
RELATIVE_RANK_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Recovery:
    """Recovery by number of trajectories B, each (R, B_max).

    `gap_RB` is the mean ||p_hat - p||_2 over fresh teacher histories, `rank_RB` that of the second-moment
    matrix of the 2K statistics, `twice_RB` whether every arm was pulled twice or more in the rounds that
    prefixes see. `mismatch_B` is E_train ||p_hat - p||_2^2, the mean over repeats, at the worst of the
    fresh histories.
    """

    mismatch_B: Tensor
    gap_RB: Tensor
    rank_RB: Tensor
    twice_RB: Tensor
    num_statistics: int

    def first_exact(self, tolerance: float) -> Tensor:
        """The first B of lasting recovery, (R,); else B_max + 1."""
        return _first(self.gap_RB <= tolerance)

    def mismatch_share(self, tolerance: float, gamma: float) -> Tensor:
        """The mismatch over 2 (1-gamma)^2 delta, (B_max,).

        delta is the share of repeats not yet exact. It is 0 where all repeats are exact.
        """
        delta_B = (self.gap_RB > tolerance).double().mean(0)
        share_B = self.mismatch_B / (2 * (1 - gamma) ** 2 * delta_B)
        return torch.where(delta_B > 0, share_B, 0.0)

    def first_full_rank(self) -> Tensor:
        """The first B with rank 2K, (R,); else B_max + 1."""
        return _first(self.rank_RB >= self.num_statistics)

    def first_twice(self) -> Tensor:
        """The first B with every arm pulled twice; else B_max + 1."""
        return _first(self.twice_RB)


def recover(
    teacher: Teacher,
    bandit: Bandit,
    num_rounds: int,
    prefixes: Prefixes,
    num_repeats: int,
    max_trajectories: int,
    test: Draws,
    generator: torch.Generator,
) -> Recovery:
    """Fit the two-channel optimum to growing numbers of trajectories.

    It is of least norm; all repeats use their first 1, 2, .., B_max trajectories. `prefixes` says whether t =
    1..N-1 all count, as in the theorem, or t = N-1 alone.
    """
    draws = sample_draws(bandit, num_repeats * max_trajectories, num_rounds, generator)
    histories = rollout(teacher, draws).histories[1:-1]
    used = histories if prefixes == "all" else histories[-1:]
    rows_RBPO = torch.stack([_row(teacher, h) for h in used], 1)
    rows_RBPO = rows_RBPO.reshape(num_repeats, max_trajectories, *rows_RBPO.shape[1:])
    pulls_RBK = histories[-1].counts_BK.reshape(num_repeats, max_trajectories, -1).cumsum(1)
    seen = rollout(teacher, test).histories[1:]
    test_z = torch.cat([h.features_BF[:, : 2 * bandit.num_arms] for h in seen])
    test_p = torch.cat([teacher.policy(h) for h in seen])
    mismatches, gaps, ranks = [], [], []
    factor_ROO = rows_RBPO[:, 0]
    for b in range(max_trajectories):
        stacked = factor_ROO if b == 0 else torch.cat([factor_ROO, rows_RBPO[:, b]], 1)
        factor_ROO = torch.linalg.qr(stacked, mode="r").R
        operators_RZK, rank_R = _least_squares(factor_ROO, 2 * bandit.num_arms)
        student_p = mixed_policy(test_z @ operators_RZK, teacher.gamma)
        gaps_RT = torch.linalg.vector_norm(student_p - test_p, dim=-1)
        mismatches.append(gaps_RT.square().mean(0).amax())
        gaps.append(gaps_RT.mean(-1))
        ranks.append(rank_R)
    return Recovery(
        torch.stack(mismatches),
        torch.stack(gaps, 1),
        torch.stack(ranks, 1),
        (pulls_RBK >= 2).all(-1),
        2 * bandit.num_arms,
    )


def second_moment_error(
    teacher: Teacher,
    bandit: Bandit,
    num_rounds: int,
    num_prefixes: int,
    independent: bool,
    num_repeats: int,
    population_ZZ: Tensor,
    generator: torch.Generator,
) -> Tensor:
    """Operator norm of Sigma-hat - Sigma from M prefixes, (R,).

    Paper, Lemma (second-moment concentration). Either M / (N-1) trajectories with all their prefixes, or M
    trajectories with one random prefix each.
    """
    per_repeat = num_prefixes if independent else num_prefixes // (num_rounds - 1)
    draws = sample_draws(bandit, num_repeats * per_repeat, num_rounds, generator)
    histories = rollout(teacher, draws).histories[1:-1]
    z_BPZ = torch.stack([h.features_BF[:, : 2 * bandit.num_arms] for h in histories], 1)
    if independent:
        chosen = torch.randint(len(histories), (len(z_BPZ),), generator=generator, device=generator.device)
        z_BPZ = z_BPZ[torch.arange(len(z_BPZ), device=generator.device), chosen].unsqueeze(1)
    z_RMZ = z_BPZ.reshape(num_repeats, -1, z_BPZ.shape[-1])
    errors_R: Tensor = torch.linalg.matrix_norm(z_RMZ.mT @ z_RMZ / z_RMZ.shape[1] - population_ZZ, 2)
    return errors_R


def coverage(bandit: Bandit, teacher: Teacher) -> float:
    """c_lambda = tau_w gamma / K - (1-gamma) c ||U|| sigma^2 / 2, positive under the paper's Assumption 1."""
    u_norm = float(torch.linalg.matrix_norm(teacher.U, 2))
    noise = (1 - teacher.gamma) * teacher.step_size * u_norm * bandit.sigma**2 / 2
    return bandit.tau_w * teacher.gamma / bandit.num_arms - noise


def theorem_prefixes(bandit: Bandit, teacher: Teacher, t: int, delta: float) -> float:
    """The prefixes that Theorem 3 requires, with constant 1.

    They are t^2 (2K + log(1/delta)) / c_lambda^2. Infinite where c_lambda is 0. Where it is negative the
    theorem does not apply; its square is used all the same.
    """
    squared = coverage(bandit, teacher) ** 2
    return t**2 * (2 * bandit.num_arms + math.log(1 / delta)) / squared if squared > 0 else math.inf


def _row(teacher: Teacher, history: History) -> Tensor:
    z_BZ = history.features_BF[:, : 2 * history.counts_BK.shape[-1]]
    return torch.cat([z_BZ, project(teacher.logits(history))], -1)


def _least_squares(factor_ROO: Tensor, num_statistics: int) -> tuple[Tensor, Tensor]:
    """Least-norm operators (R, 2K, K) and ranks (R,) from the triangles of [z y]."""
    z, y = factor_ROO[..., :num_statistics], factor_ROO[..., num_statistics:]
    left, values, right = torch.linalg.svd(z, full_matrices=False)
    kept = values > RELATIVE_RANK_TOLERANCE * values[..., :1]
    inverse = torch.where(kept, 1 / values.where(kept, torch.ones_like(values)), 0.0)
    return right.mT @ (inverse.unsqueeze(-1) * (left.mT @ y)), kept.sum(-1)


def _first(reached_RB: Tensor) -> Tensor:
    """One more than the number of leading entries before `reached` holds for good."""
    lasting = reached_RB.flip(-1).to(torch.int64).cumprod(-1).flip(-1)
    return 1 + reached_RB.shape[-1] - lasting.sum(-1)
