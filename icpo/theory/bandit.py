"""The linear bandit of Section 2: tasks, the randomness of a trajectory, and the history it leaves.

Shapes: B tasks, K arms, N rounds.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from pydantic import ConfigDict, Field, NonNegativeFloat
from pydantic.dataclasses import dataclass as checked
from torch import Tensor

Noise = Literal["gaussian", "rademacher", "laplace", "student_t"]


@checked(frozen=True, slots=True, config=ConfigDict(strict=True, extra="forbid"))
class Bandit:
    """Where tasks come from: w ~ N(0, tau_w^2 I_K), r = <w, x> + noise of standard deviation sigma."""

    num_arms: Annotated[int, Field(ge=2)]
    tau_w: NonNegativeFloat
    sigma: NonNegativeFloat
    noise: Noise = "gaussian"


@dataclass(frozen=True, slots=True)
class Draws:
    """All that is random in B trajectories, fixed beforehand so that policies can share it."""

    tasks_BK: Tensor
    uniforms_BN: Tensor
    noise_BN: Tensor

    @property
    def num_rounds(self) -> int:
        """N, how many rounds the draws suffice for."""
        return self.noise_BN.shape[-1]

    def blocks(self, num_tasks: int) -> "list[Draws]":
        """The same draws in blocks of at most `num_tasks` tasks, small enough to stay in a core's cache."""
        parts = (torch.split(t, num_tasks) for t in (self.tasks_BK, self.uniforms_BN, self.noise_BN))
        return [Draws(*block) for block in zip(*parts, strict=True)]


def seeded(seed: int, device: str) -> torch.Generator:
    """A generator on `device`; numbers differ between devices, not between runs."""
    return torch.Generator(device=device).manual_seed(seed)


def sample_draws(bandit: Bandit, num_tasks: int, num_rounds: int, generator: torch.Generator) -> Draws:
    """Fresh tasks, uniforms and reward noise for `num_tasks` trajectories of `num_rounds` rounds."""
    return Draws(
        tasks_BK=bandit.tau_w * _normal((num_tasks, bandit.num_arms), generator),
        uniforms_BN=_uniform((num_tasks, num_rounds), generator),
        noise_BN=bandit.sigma * unit_noise(bandit.noise, (num_tasks, num_rounds), generator),
    )


def unit_noise(noise: Noise, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Zero-mean noise of variance 1, of the given shape.

    laplace and student_t (3 degrees of freedom) are not sub-Gaussian. Raises ValueError for any other name.
    """
    if noise == "gaussian":
        return _normal(shape, generator)
    if noise == "rademacher":
        return (_uniform(shape, generator) < 0.5).to(torch.float64) * 2 - 1
    if noise == "laplace":
        return (_exponential(shape, generator) - _exponential(shape, generator)) / 2**0.5
    if noise == "student_t":
        chi_squared = sum(_normal(shape, generator) ** 2 for _ in range(3))
        return _normal(shape, generator) / chi_squared**0.5  # Variance of t_3 is 3: the two factors 3 cancel.
    raise ValueError(f"noise must be gaussian, rademacher, laplace or student_t, got {noise!r}")


@dataclass(frozen=True, slots=True)
class History:
    """What t finished rounds leave behind: all that an LSA layer or the teacher can see of them."""

    t: int
    counts_BK: Tensor
    rewards_BK: Tensor
    squares_B: Tensor

    @classmethod
    def empty(cls, tasks_BK: Tensor) -> "History":
        """No round played yet; shapes and device as the tasks'."""
        zeros = torch.zeros_like(tasks_BK)
        return cls(0, zeros, zeros, zeros[..., 0])

    def then(self, arms_B: Tensor, rewards_B: Tensor) -> "History":
        """The history after one more round: pulls n_t, summed rewards g_t of each arm, summed squares."""
        index = arms_B.unsqueeze(-1)
        return History(
            self.t + 1,
            self.counts_BK.scatter_add(-1, index, torch.ones_like(rewards_B).unsqueeze(-1)),
            self.rewards_BK.scatter_add(-1, index, rewards_B.unsqueeze(-1)),
            self.squares_B + rewards_B**2,
        )

    @property
    def features_BF(self) -> Tensor:
        """(n_t/t, g_t/t, 1/t, r'r/t), shape (B, 2K+2): an LSA's projected logits are linear in them."""
        squares = self.squares_B.unsqueeze(-1)
        return torch.cat([self.counts_BK, self.rewards_BK, torch.ones_like(squares), squares], -1) / self.t


def reward(tasks_BK: Tensor, arms_B: Tensor, noise_B: Tensor) -> Tensor:
    """The reward <w, x> + noise, shape (B,)."""
    return tasks_BK.gather(-1, arms_B.unsqueeze(-1)).squeeze(-1) + noise_B


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, device=generator.device, dtype=torch.float64)


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator, device=generator.device, dtype=torch.float64)


def _exponential(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return -torch.log1p(-_uniform(shape, generator))
