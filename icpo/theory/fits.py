"""Ways to train a student on the empirical Fisher-weighted loss.

Shapes: S starts, K arms, D = K + 1, P parameters of one start (W_PV and W_KQ, flattened).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from icpo.theory.flow import Flow
from icpo.theory.lsa import Lsa, TwoChannel, feature_operator
from icpo.theory.statistics import Quadratic, Statistics

Objective = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Fitted:
    """One student for each start, in the order drawn, with its training loss; nothing is selected."""

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
class GradientFlow:
    """Gradient flow on the two-channel operator from normal starts. Paper, Eq. (flow-nonfact)."""

    time: float
    num_starts: int
    start_scale: float

    def fit(self, statistics: Statistics, gamma: float, generator: torch.Generator) -> Fitted:
        """One student for each start, from the flow's exact solution at `time`."""
        K = statistics.num_arms
        starts = self.start_scale * _normal((self.num_starts, K, 2 * K), generator)
        operators = Flow.of(statistics).at(starts, self.time)
        losses = Quadratic.of(statistics, 2 * K).loss(operators)
        return Fitted(tuple(TwoChannel(operator, gamma) for operator in operators), losses)


@dataclass(frozen=True, slots=True)
class Start:
    """Where the LSA's own matrices start: entries N(0, scale^2); `near_query` moves W_KQ q to (0, .., 0, 1).

    A scale of 0 with `unstructured` is a stationary point and trains nothing.
    """

    kind: Literal["near_query", "unstructured"]
    scale: float
    num_starts: int

    def draw(self, num_arms: int, generator: torch.Generator) -> Tensor:
        """Flattened (W_PV, W_KQ) of every start, shape (S, P)."""
        matrices = self.scale * _normal((self.num_starts, 2, num_arms + 1, num_arms + 1), generator)
        if self.kind == "near_query":
            matrices[:, 1, num_arms, :num_arms] += 1 / num_arms
        return matrices.flatten(1)


@dataclass(frozen=True, slots=True)
class Adam:
    """Adam on W_PV and W_KQ with a cosine schedule to zero, all starts at once."""

    start: Start
    attends_query: bool
    num_steps: int
    learning_rate: float

    def fit(self, statistics: Statistics, gamma: float, generator: torch.Generator) -> Fitted:
        """One LSA for each start; a start that diverges keeps its non-finite loss."""
        theta_SP = self.start.draw(statistics.num_arms, generator).requires_grad_()
        loss = lsa_loss(statistics, self.attends_query)
        optimizer = torch.optim.Adam([theta_SP], lr=self.learning_rate, betas=(0.9, 0.99))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.num_steps)
        for _ in range(self.num_steps):
            [theta_SP.grad] = torch.autograd.grad(loss(theta_SP).sum(), theta_SP)
            optimizer.step()
            schedule.step()
        return fitted_lsas(theta_SP.detach(), statistics, gamma, self.attends_query)


@dataclass(frozen=True, slots=True)
class Lbfgs:
    """L-BFGS with strong Wolfe line search on W_PV and W_KQ, one start after the other."""

    start: Start
    attends_query: bool
    num_steps: int

    def fit(self, statistics: Statistics, gamma: float, generator: torch.Generator) -> Fitted:
        """One LSA for each start; a start that diverges keeps its non-finite loss."""
        starts = self.start.draw(statistics.num_arms, generator)
        loss = lsa_loss(statistics, self.attends_query)
        return fitted_lsas(
            torch.stack([self._minimise(loss, theta_P) for theta_P in starts]),
            statistics,
            gamma,
            self.attends_query,
        )

    def _minimise(self, loss: Objective, theta_P: Tensor) -> Tensor:
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
            value = loss(theta_P)
            [theta_P.grad] = torch.autograd.grad(value, theta_P)
            return value

        optimizer.step(closure)  # type: ignore[no-untyped-call]
        return theta_P.detach()


@dataclass(frozen=True, slots=True)
class LevenbergMarquardt:
    """Damped Gauss-Newton on W_PV and W_KQ, all starts at once."""

    start: Start
    attends_query: bool
    num_steps: int
    damping: float

    def fit(self, statistics: Statistics, gamma: float, generator: torch.Generator) -> Fitted:
        """One LSA for each start. A step that does not lower a start's loss is not taken."""
        theta_SP = self.start.draw(statistics.num_arms, generator)
        residuals = lsa_residuals(statistics, self.attends_query)
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
        return fitted_lsas(theta_SP, statistics, gamma, self.attends_query)


def lsa_residuals(statistics: Statistics, attends_query: bool) -> Objective:
    """Weighted residuals of an LSA given as flattened (W_PV, W_KQ), shape (S, R) or (R,) for a single one."""
    D = statistics.num_arms + 1
    quadratic = Quadratic.of(statistics, num_features=2 * D)

    def residuals(theta_SP: Tensor) -> Tensor:
        matrices = theta_SP.reshape(*theta_SP.shape[:-1], 2, D, D)
        operator = feature_operator(matrices[..., 0, :, :], matrices[..., 1, :, :], attends_query)
        return quadratic.residuals(operator).flatten(-2)

    return residuals


def lsa_loss(statistics: Statistics, attends_query: bool) -> Objective:
    """The empirical Fisher-weighted loss of an LSA given as flattened (W_PV, W_KQ), shape (S,) or scalar."""
    residuals = lsa_residuals(statistics, attends_query)
    return lambda theta_SP: 0.5 * residuals(theta_SP).square().sum(-1)


def fitted_lsas(theta_SP: Tensor, statistics: Statistics, gamma: float, attends_query: bool) -> Fitted:
    """The students of flattened parameters with their losses."""
    matrices = theta_SP.reshape(-1, 2, statistics.num_arms + 1, statistics.num_arms + 1)
    students = tuple(Lsa(W_PV, W_KQ, gamma, attends_query) for W_PV, W_KQ in matrices)
    return Fitted(students, lsa_loss(statistics, attends_query)(theta_SP))


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, device=generator.device, dtype=torch.float64)
