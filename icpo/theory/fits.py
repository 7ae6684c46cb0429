"""Ways to train a student on the empirical Fisher-weighted loss.

Shapes: S starts, K arms, D = K + 1, P parameters of one start (W_PV and W_KQ, flattened).
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from icpo.theory.lsa import Lsa, TwoChannel
from icpo.theory.objectives import Objective, fisher_loss, fisher_residuals
from icpo.theory.statistics import Quadratic, Statistics


@dataclass(frozen=True, slots=True)
class Fitted:
    """One student for each start, in order, with its training loss; nothing is selected."""

    students: tuple[Lsa | TwoChannel, ...]
    losses_S: Tensor


class Fit(Protocol):
    """A way to train a student."""

    def fit(self, statistics: Statistics, gamma: float, generator: torch.Generator) -> Fitted:
        """Students that mix gamma of exploration, trained on what the statistics summarise."""
        ...


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """Least squares for the two-channel operator; of several minimisers the one of least norm."""

    tolerance: float

    def fit(self, statistics: Statistics, gamma: float, generator: torch.Generator) -> Fitted:
        """One student; the generator is not used."""
        operator = statistics.least_squares(2 * statistics.num_arms, self.tolerance)
        loss = Quadratic.of(statistics, 2 * statistics.num_arms).loss(operator)
        return Fitted((TwoChannel(operator, gamma),), loss.unsqueeze(0))


@dataclass(frozen=True, slots=True)
class Start:
    """Where the LSA's own matrices start: entries N(0, scale^2); `near_query` moves W_KQ q to (0, .., 0, 1).

    A scale of 0 with `unstructured` is a stationary point and trains nothing.
    """

    kind: Literal["near_query", "unstructured"]
    scale: float
    num_starts: int

    def sample(self, num_arms: int, generator: torch.Generator) -> Tensor:
        """Flattened (W_PV, W_KQ) of every start, shape (S, P)."""
        shape = (self.num_starts, 2, num_arms + 1, num_arms + 1)
        device = generator.device
        matrices = self.scale * torch.randn(shape, generator=generator, device=device, dtype=torch.float64)
        if self.kind == "near_query":
            matrices[:, 1, num_arms, :num_arms] += 1 / num_arms
        return matrices.flatten(1)


@dataclass(frozen=True, slots=True)
class LsaFit:
    """A way to train W_PV and W_KQ of an LSA from several starts."""

    start: Start
    attends_query: bool

    def fit(self, statistics: Statistics, gamma: float, generator: torch.Generator) -> Fitted:
        """One LSA for each start; a start that diverges keeps its non-finite loss."""
        theta_SP = self.start.sample(statistics.num_arms, generator)
        loss = fisher_loss(statistics, self.attends_query)
        return fitted_lsas(self.minimise(loss, theta_SP), loss, gamma, self.attends_query)

    def minimise(self, objective: Objective, theta_SP: Tensor) -> Tensor:
        """The parameters that training reaches from each start, shape (S, P)."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Adam(LsaFit):
    """Adam on W_PV and W_KQ with a cosine schedule to zero, all starts at once."""

    num_steps: int
    learning_rate: float

    def minimise(self, objective: Objective, theta_SP: Tensor) -> Tensor:
        """The parameters that training reaches from each start, shape (S, P)."""
        theta_SP = theta_SP.clone().requires_grad_()
        optimizer = torch.optim.Adam([theta_SP], lr=self.learning_rate, betas=(0.9, 0.99))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.num_steps)
        for _ in range(self.num_steps):
            [theta_SP.grad] = torch.autograd.grad(objective(theta_SP).sum(), theta_SP)
            optimizer.step()
            schedule.step()
        return theta_SP.detach()


@dataclass(frozen=True, slots=True)
class Lbfgs(LsaFit):
    """L-BFGS with strong Wolfe line search on W_PV and W_KQ, one start after the other."""

    num_steps: int

    def minimise(self, objective: Objective, theta_SP: Tensor) -> Tensor:
        """The parameters that training reaches from each start, shape (S, P)."""
        return torch.stack([self._minimise_one(objective, theta_P) for theta_P in theta_SP])

    def _minimise_one(self, objective: Objective, theta_P: Tensor) -> Tensor:
        theta_P = theta_P.clone().requires_grad_()
        optimizer = torch.optim.LBFGS(
            [theta_P],
            max_iter=self.num_steps,
            max_eval=2 * self.num_steps,
            history_size=50,
            tolerance_grad=0,
            tolerance_change=0,
            line_search_fn="strong_wolfe",
        )

        def closure() -> Tensor:
            value = objective(theta_P)
            [theta_P.grad] = torch.autograd.grad(value, theta_P)
            return value

        optimizer.step(closure)  # type: ignore[no-untyped-call]
        return theta_P.detach()


@dataclass(frozen=True, slots=True)
class LevenbergMarquardt(LsaFit):
    """Damped Gauss-Newton on W_PV and W_KQ, all starts at once."""

    num_steps: int
    damping: float

    def fit(self, statistics: Statistics, gamma: float, generator: torch.Generator) -> Fitted:
        """One LSA for each start. A step that does not lower a start's loss is not taken."""
        theta_SP = self.start.sample(statistics.num_arms, generator)
        residuals = fisher_residuals(statistics, self.attends_query)
        jacobian = torch.func.vmap(torch.func.jacfwd(residuals))
        damping_S = torch.full_like(theta_SP[:, 0], self.damping)
        eye_PP = torch.eye(theta_SP.shape[1], dtype=theta_SP.dtype, device=theta_SP.device)
        for _ in range(self.num_steps):
            J_SRP, r_SR = jacobian(theta_SP), residuals(theta_SP)
            normal_SPP = J_SRP.mT @ J_SRP + damping_S[:, None, None] * eye_PP
            step_SP = torch.linalg.solve(normal_SPP, (J_SRP.mT @ r_SR.unsqueeze(-1)).squeeze(-1))
            better_S = residuals(theta_SP - step_SP).square().sum(-1) < r_SR.square().sum(-1)
            theta_SP = torch.where(better_S[:, None], theta_SP - step_SP, theta_SP)
            damping_S = torch.where(better_S, damping_S / 10, damping_S * 10).clamp(1e-14, 1e8)
        loss = fisher_loss(statistics, self.attends_query)
        return fitted_lsas(theta_SP, loss, gamma, self.attends_query)


def fitted_lsas(theta_SP: Tensor, loss: Objective, gamma: float, attends_query: bool) -> Fitted:
    """The students of flattened parameters with their losses."""
    D = int((theta_SP.shape[1] // 2) ** 0.5)
    students = (Lsa(W_PV, W_KQ, gamma, attends_query) for W_PV, W_KQ in theta_SP.reshape(-1, 2, D, D))
    return Fitted(tuple(students), loss(theta_SP))
