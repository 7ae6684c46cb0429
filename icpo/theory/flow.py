"""Gradient flow on the two-channel operator, exactly and in steps, and the rates that bound it.

Shapes: S starts, K arms, Z = 2K entries of z = (n_t/t, g_t/t).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from icpo.theory.policies import project
from icpo.theory.statistics import Statistics


@dataclass(frozen=True, slots=True)
class Flow:
    """dW/dt = -Gamma (W - W*) Sigma, diagonal in both eigenbases. Paper, Eq. (flow-nonfact)."""

    target_KZ: Tensor
    fisher_KK: Tensor
    second_moment_ZZ: Tensor
    fisher_values_K: Tensor
    fisher_vectors_KK: Tensor
    moment_values_Z: Tensor
    moment_vectors_ZZ: Tensor

    @classmethod
    def of(cls, statistics: Statistics) -> "Flow":
        """The flow of the empirical loss, whose minimiser is the least-squares operator."""
        fisher_KK, second_moment_ZZ = statistics.fisher_KK, statistics.second_moment_ZZ
        fisher_values, fisher_vectors = torch.linalg.eigh(fisher_KK)
        moment_values, moment_vectors = torch.linalg.eigh(second_moment_ZZ)
        return cls(
            statistics.least_squares(len(second_moment_ZZ), tolerance=1e-12),
            fisher_KK,
            second_moment_ZZ,
            fisher_values.clamp_min(0),
            fisher_vectors,
            moment_values.clamp_min(0),
            moment_vectors,
        )

    def excess_loss(self, operator_SKZ: Tensor) -> Tensor:
        """L(W) - L(W*) = 1/2 tr(Gamma D Sigma D') with D = W - W*, shape (S,)."""
        D = operator_SKZ - self.target_KZ
        return 0.5 * (self.fisher_KK @ D @ self.second_moment_ZZ * D).sum((-2, -1))

    def gradient(self, operator_SKZ: Tensor) -> Tensor:
        """Gamma (W - W*) Sigma, shape (S, K, Z). Paper, Eq. (grad-barW)."""
        return self.fisher_KK @ (operator_SKZ - self.target_KZ) @ self.second_moment_ZZ

    def at(self, start_SKZ: Tensor, time: float) -> Tensor:
        """W(time) from W(0) = start: each eigenmode decays as exp(-gamma_i sigma_j time)."""
        rates_KZ = self.fisher_values_K[:, None] * self.moment_values_Z
        modes = self.fisher_vectors_KK.T @ (start_SKZ - self.target_KZ) @ self.moment_vectors_ZZ
        return (
            self.target_KZ
            + self.fisher_vectors_KK @ (modes * (-rates_KZ * time).exp()) @ self.moment_vectors_ZZ.T
        )

    def slowest_starts(self) -> Tensor:
        """Starts that differ from the target in one slow mode alone, shape (2, K, Z).

        The slowest of all, and the one that is slowest by the paper's count, with z in S = 1-perp + 1-perp.
        """
        basis = one_perp(len(self.fisher_KK)).to(self.fisher_KK)
        both = both_perp(len(self.fisher_KK)).to(basis)
        slow_K: Tensor = basis @ torch.linalg.eigh(basis.T @ self.fisher_KK @ basis).eigenvectors[:, 0]
        in_s_Z = both @ torch.linalg.eigh(both.T @ self.second_moment_ZZ @ both).eigenvectors[:, 0]
        slow_Z: Tensor = torch.stack([self.moment_vectors_ZZ[:, 0], in_s_Z])
        return self.target_KZ + slow_K[:, None] * slow_Z[:, None, :]

    def euler(self, start_SKZ: Tensor, step: float, num_steps: int, every: int) -> Tensor:
        """Excess losses of the discretised flow at the start and after each `every` steps, (S, I)."""
        fastest = (self.fisher_values_K[-1] * self.moment_values_Z[-1]).item()
        if step * fastest >= 2:
            raise ValueError(f"a step of {step} diverges: it must stay below {2 / fastest:.4g}")
        operator, losses = start_SKZ, [self.excess_loss(start_SKZ)]
        for i in range(1, num_steps + 1):
            operator = operator - step * self.gradient(operator)
            if i % every == 0:
                losses.append(self.excess_loss(operator))
        return torch.stack(losses, -1)


def smallest_fisher_rate(fisher_KK: Tensor) -> float:
    """The smallest eigenvalue of Gamma on 1-perp."""
    basis = one_perp(fisher_KK.shape[-1]).to(fisher_KK)
    return float(torch.linalg.eigvalsh(basis.T @ fisher_KK @ basis)[0])


def smallest_moment_on_s(second_moment_ZZ: Tensor) -> float:
    """The smallest eigenvalue of Sigma compressed to S = 1-perp + 1-perp, as the paper's mu takes it."""
    both = both_perp(second_moment_ZZ.shape[-1] // 2).to(second_moment_ZZ)
    return float(torch.linalg.eigvalsh(both.T @ second_moment_ZZ @ both)[0])


def one_perp(num_arms: int) -> Tensor:
    """An orthonormal basis of the vectors that sum to zero, shape (K, K-1)."""
    centred = project(torch.eye(num_arms, dtype=torch.float64))
    basis: Tensor = torch.linalg.eigh(centred).eigenvectors[:, 1:].contiguous()
    return basis


def both_perp(num_arms: int) -> Tensor:
    """An orthonormal basis of S = 1-perp + 1-perp, shape (2K, 2K-2)."""
    return torch.kron(torch.eye(2, dtype=torch.float64), one_perp(num_arms))
