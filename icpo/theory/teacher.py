"""The policy-optimisation teacher of Eq. (real-update).

Shapes: B tasks, K arms.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from pydantic import ConfigDict, Field, PositiveFloat
from pydantic.dataclasses import dataclass as checked
from torch import Tensor

from icpo.theory.bandit import History, seeded
from icpo.theory.policies import mixed_policy, project
from icpo.theory.rollout import uniform_policy


@dataclass(frozen=True, slots=True)
class Teacher:
    """s_{t+1} = (c/t) (U g_t + V n_t), mixed with gamma of uniform exploration."""

    step_size: float
    gamma: float
    U: Tensor
    V: Tensor

    @classmethod
    def of(cls, H_KK: Tensor, penalty: float, step_size: float, gamma: float) -> "Teacher":
        """U = H^-1 and V = -lambda H^-1."""
        U = torch.linalg.inv(H_KK)
        return cls(step_size, gamma, U, -penalty * U)

    def logits(self, history: History) -> Tensor:
        """Logits after the history, shape (B, K). Paper, Eq. (real-update).

        Raises ValueError before the first round.
        """
        if history.t < 1:
            raise ValueError(f"t counts finished rounds and must be at least 1, got {history.t}")
        pulled = history.rewards_BK @ self.U.T + history.counts_BK @ self.V.T
        return (self.step_size / history.t) * pulled

    def policy(self, history: History) -> Tensor:
        """The mixed policy after the history, shape (B, K); uniform before the first round."""
        return uniform_policy(history) if history.t == 0 else mixed_policy(self.logits(history), self.gamma)

    @property
    def operator_KZ(self) -> Tensor:
        """Proj c [V U], (K, 2K), from z = (n_t/t, g_t/t) to projected logits: every student's target."""
        return project((self.step_size * torch.cat([self.V, self.U], 1)).T).T


@checked(frozen=True, slots=True, config=ConfigDict(strict=True, extra="forbid"))
class TeacherRecipe:
    """Choices from which a teacher of any size is made: H, lambda and c of Eq. (s).

    `metric` is H: `identity`, or `random_spd` with eigenvalues spread geometrically over `condition_number`
    around 1 and eigenvectors sampled with `metric_seed`; `scale` multiplies H. `penalty` is lambda, which
    taxes arms for having been pulled.
    """

    metric: Literal["identity", "random_spd"]
    penalty: float
    condition_number: Annotated[float, Field(ge=1)] = 1.0
    metric_seed: int = 0
    scale: PositiveFloat = 1.0

    def build(self, num_arms: int, step_size: float, gamma: float, device: str) -> Teacher:
        """The teacher with U = H^-1 and V = -lambda H^-1 on `num_arms` arms."""
        return Teacher.of(self.H(num_arms).to(device), self.penalty, step_size, gamma)

    def H(self, num_arms: int) -> Tensor:
        """The regulariser's matrix, shape (K, K), on the CPU: the same one for every device."""
        if self.metric == "identity":
            return self.scale * torch.eye(num_arms, dtype=torch.float64)
        normal = torch.randn(
            num_arms, num_arms, generator=seeded(self.metric_seed, "cpu"), dtype=torch.float64
        )
        basis: Tensor = torch.linalg.qr(normal).Q
        half = 0.5 * torch.log(torch.tensor(self.condition_number, dtype=torch.float64)).item()
        values = self.scale * torch.linspace(-half, half, num_arms, dtype=torch.float64).exp()
        return basis @ torch.diag(values) @ basis.T
