"""Gradient flow on the two-channel operator, solved exactly, and the rates that bound it.

Shapes: S starts, I times, K arms, Z = 2K entries of z = (n_t/t, g_t/t).
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
    def of(cls, target_KZ: Tensor, fisher_KK: Tensor, second_moment_ZZ: Tensor) -> "Flow":
        """The flow towards W* = target for given Gamma and Sigma."""
        fisher_values, fisher_vectors = torch.linalg.eigh(fisher_KK)
        moment_values, moment_vectors = torch.linalg.eigh(second_moment_ZZ)
        return cls(
            target_KZ,
            fisher_KK,
            second_moment_ZZ,
            fisher_values.clamp_min(0),
            fisher_vectors,
            moment_values.clamp_min(0),
            moment_vectors,
        )

    @classmethod
    def of_sample(cls, statistics: Statistics) -> "Flow":
        """The flow of the empirical loss, whose minimiser is the least-squares operator."""
        second_moment_ZZ = statistics.second_moment_ZZ
        target = statistics.least_squares(len(second_moment_ZZ), tolerance=1e-12)
        return cls.of(target, statistics.fisher_KK, second_moment_ZZ)

    def averaged_over_arms(self) -> "Flow":
        """The flow with Gamma and Sigma averaged over all orders of the arms.

        With a teacher that treats arms alike (H = I) the population's Gamma and Sigma have this form.
        """
        K = len(self.fisher_KK)
        return Flow.of(
            self.target_KZ, average_over_arms(self.fisher_KK, K), average_over_arms(self.second_moment_ZZ, K)
        )

    @property
    def rate(self) -> float:
        """The paper's mu over all of R^{2K}: the slowest mode that a loss can see."""
        return smallest_fisher_rate(self.fisher_KK) * self.moment_values_Z[0].item()

    @property
    def rate_on_s(self) -> float:
        """The paper's mu, with Sigma compressed to S = 1-perp + 1-perp."""
        return smallest_fisher_rate(self.fisher_KK) * smallest_moment_on_s(self.second_moment_ZZ)

    def excess_loss(self, operator_SKZ: Tensor) -> Tensor:
        """L(W) - L(W*) = 1/2 tr(Gamma D Sigma D') with D = W - W*, shape (S,)."""
        D = operator_SKZ - self.target_KZ
        return 0.5 * (self.fisher_KK @ D @ self.second_moment_ZZ * D).sum((-2, -1))

    def gradient(self, operator_SKZ: Tensor) -> Tensor:
        """Gamma (W - W*) Sigma, shape (S, K, Z). Paper, Eq. (grad-barW)."""
        return self.fisher_KK @ (operator_SKZ - self.target_KZ) @ self.second_moment_ZZ

    def at(self, start_SKZ: Tensor, time: Tensor | float) -> Tensor:
        """W(time) from W(0) = start: each eigenmode decays as exp(-gamma_i sigma_j time)."""
        modes = self._modes(start_SKZ) * (-self._rates() * time).exp()
        return self.target_KZ + self.fisher_vectors_KK @ modes @ self.moment_vectors_ZZ.T

    def losses(self, start_SKZ: Tensor, times_I: Tensor) -> Tensor:
        """Excess losses along the exact flow, shape (S, I)."""
        rates_KZ = self._rates()
        energies = 0.5 * rates_KZ * self._modes(start_SKZ).square()
        return energies.flatten(1) @ (-2 * rates_KZ.flatten()[:, None] * times_I).exp()

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

    def _rates(self) -> Tensor:
        return self.fisher_values_K[:, None] * self.moment_values_Z

    def _modes(self, start_SKZ: Tensor) -> Tensor:
        return self.fisher_vectors_KK.T @ (start_SKZ - self.target_KZ) @ self.moment_vectors_ZZ


def average_over_arms(matrix: Tensor, num_arms: int) -> Tensor:
    """The average over all orders of the arms of a matrix made of K x K blocks, same shape.

    Each block becomes a Diag plus a constant. Such a matrix maps S = 1-perp + 1-perp into itself.
    """
    K = num_arms
    blocks = matrix.unfold(0, K, K).unfold(1, K, K)  # (rows of blocks, columns of blocks, K, K)
    diagonal = blocks.diagonal(dim1=-2, dim2=-1).mean(-1)[..., None, None]
    off = (blocks.sum((-2, -1), keepdim=True) - K * diagonal) / (K * (K - 1))
    averaged = off + (diagonal - off) * torch.eye(K, dtype=matrix.dtype, device=matrix.device)
    return averaged.transpose(1, 2).reshape(matrix.shape)


def smallest_fisher_rate(fisher_KK: Tensor) -> float:
    """The smallest eigenvalue of Gamma on 1-perp."""
    basis = one_perp(fisher_KK.shape[-1]).to(fisher_KK)
    return float(torch.linalg.eigvalsh(basis.T @ fisher_KK @ basis)[0])


def smallest_moment_on_s(second_moment_ZZ: Tensor) -> float:
    """The smallest eigenvalue of Sigma compressed to S = 1-perp + 1-perp, as the paper's mu takes it."""
    both = both_perp(second_moment_ZZ.shape[-1] // 2).to(second_moment_ZZ)
    return float(torch.linalg.eigvalsh(both.T @ second_moment_ZZ @ both)[0])


def smallest_moment_off_s(second_moment_ZZ: Tensor) -> float:
    """The smallest eigenvalue of Sigma compressed to the complement of S, spanned by (1, 0) and (0, 1)."""
    K = second_moment_ZZ.shape[-1] // 2
    ones_ZY = torch.kron(torch.eye(2, dtype=torch.float64), torch.ones(K, 1, dtype=torch.float64)) / K**0.5
    basis = ones_ZY.to(second_moment_ZZ)
    return float(torch.linalg.eigvalsh(basis.T @ second_moment_ZZ @ basis)[0])


def one_perp(num_arms: int) -> Tensor:
    """An orthonormal basis of the vectors that sum to zero, shape (K, K-1)."""
    centred = project(torch.eye(num_arms, dtype=torch.float64))
    basis: Tensor = torch.linalg.eigh(centred).eigenvectors[:, 1:]
    return basis.clone(memory_format=torch.contiguous_format)


def both_perp(num_arms: int) -> Tensor:
    """An orthonormal basis of S = 1-perp + 1-perp, shape (2K, 2K-2)."""
    return torch.kron(torch.eye(2, dtype=torch.float64), one_perp(num_arms))
