"""Bandit algorithms to compare with, and their regret.

Shapes: B tasks, K arms, T rounds.
"""

import math
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from icpo.theory.bandit import Draws, History, reward
from icpo.theory.policies import mix_uniform, sample_inverse_cdf
from icpo.theory.rollout import Player

Memory = TypeVar("Memory")


class Learner(Protocol[Memory]):
    """A learner that chooses arms and learns from rewards."""

    def begin(self, tasks_BK: Tensor) -> Memory:
        """The memory before the first round, by the tasks' shape."""
        ...

    def act(self, memory: Memory, uniforms_B: Tensor) -> Tensor:
        """The arms for the next round, shape (B,)."""
        ...

    def learn(self, memory: Memory, arms_B: Tensor, rewards_B: Tensor) -> Memory:
        """The memory after the round."""
        ...


class _Historian:
    """Remembers the history and nothing else."""

    def begin(self, tasks_BK: Tensor) -> History:
        return History.empty(tasks_BK)

    def learn(self, memory: History, arms_B: Tensor, rewards_B: Tensor) -> History:
        return memory.then(arms_B, rewards_B)


@dataclass(frozen=True)
class Policy(_Historian):
    """The teacher or a student, sampled by inverse CDF."""

    player: Player

    def act(self, memory: History, uniforms_B: Tensor) -> Tensor:
        """An arm sampled from the player's policy."""
        return sample_inverse_cdf(self.player.policy(memory), uniforms_B)


@dataclass(frozen=True)
class Thompson(_Historian):
    """Thompson sampling with the prior N(0, tau_w^2) for each arm and Gaussian noise of deviation sigma."""

    tau_w: float
    sigma: float
    generator: torch.Generator

    def act(self, memory: History, uniforms_B: Tensor) -> Tensor:
        """The best arm of a task sampled from the posterior."""
        precision_BK = memory.counts_BK / self.sigma**2 + 1 / self.tau_w**2
        mean_BK = memory.rewards_BK / self.sigma**2 / precision_BK
        shape, device = mean_BK.shape, self.generator.device
        normal_BK = torch.randn(shape, generator=self.generator, device=device, dtype=mean_BK.dtype)
        return (mean_BK + normal_BK / precision_BK.sqrt()).argmax(-1)


@dataclass(frozen=True)
class Ucb(_Historian):
    """UCB1 with confidence width sigma sqrt(2 log t / n)."""

    sigma: float

    def act(self, memory: History, uniforms_B: Tensor) -> Tensor:
        """The arm of the highest upper confidence bound."""
        pulls_BK = memory.counts_BK.clamp_min(1)
        width_BK = self.sigma * (2 * math.log(memory.t + 1) / pulls_BK).sqrt()
        bound_BK = memory.rewards_BK / pulls_BK + width_BK
        return torch.where(memory.counts_BK == 0, torch.inf, bound_BK).argmax(-1)


@dataclass(frozen=True, slots=True)
class Gains:
    """EXP3's memory: the rounds played and each arm's importance-weighted summed reward."""

    t: int
    gains_BK: Tensor


@dataclass(frozen=True, slots=True)
class Exp3:
    """EXP3 with rate sqrt(log K / (K t)) on rewards divided by `scale`, mixed with gamma of exploration."""

    scale: float
    gamma: float

    def begin(self, tasks_BK: Tensor) -> Gains:
        """No gains yet."""
        return Gains(0, torch.zeros_like(tasks_BK))

    def act(self, memory: Gains, uniforms_B: Tensor) -> Tensor:
        """An arm sampled from the exponential weights."""
        return sample_inverse_cdf(self._policy(memory), uniforms_B)

    def learn(self, memory: Gains, arms_B: Tensor, rewards_B: Tensor) -> Gains:
        """Adds r / p to the arm that was pulled."""
        index = arms_B.unsqueeze(-1)
        weighted = rewards_B.unsqueeze(-1) / self.scale / self._policy(memory).gather(-1, index)
        return Gains(memory.t + 1, memory.gains_BK.scatter_add(-1, index, weighted))

    def _policy(self, memory: Gains) -> Tensor:
        K = memory.gains_BK.shape[-1]
        rate = math.sqrt(math.log(K) / (K * (memory.t + 1)))
        return mix_uniform(torch.softmax(rate * memory.gains_BK, -1), self.gamma)


def cumulative_regret(learner: Learner[Memory], draws: Draws) -> Tensor:
    """Summed expected regret, max_k w_k - w_{A_t}, up to every round, shape (B, T)."""
    memory, instant = learner.begin(draws.tasks_BK), []
    best_B = draws.tasks_BK.amax(-1)
    for t in range(draws.num_rounds):
        arms = learner.act(memory, draws.uniforms_BN[:, t])
        instant.append(best_B - draws.tasks_BK.gather(-1, arms.unsqueeze(-1)).squeeze(-1))
        memory = learner.learn(memory, arms, reward(draws.tasks_BK, arms, draws.noise_BN[:, t]))
    return torch.stack(instant, -1).cumsum(-1)


def growth_exponent(regret_BT: Tensor) -> float:
    """Slope of log mean regret against log t from T/4 to T: 1 is linear growth, 0 none."""
    T = regret_BT.shape[-1]
    mean = regret_BT.mean(0)
    return (math.log(mean[-1].item()) - math.log(mean[T // 4 - 1].item())) / math.log(T / (T // 4))
