"""The closed loop: a player and a bandit, round after round.

Shapes: B tasks, K arms, N rounds.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from icpo.theory.bandit import Draws, History, reward
from icpo.theory.policies import sample_inverse_cdf


class Player(Protocol):
    """Anything that turns a history into a policy: the teacher, a student."""

    def policy(self, history: History) -> Tensor:
        """The mixed policy for the next round, shape (B, K)."""
        ...


@dataclass(frozen=True, slots=True)
class Trajectories:
    """What a player did: N + 1 histories, the first one empty, and the N policies it played."""

    histories: tuple[History, ...]
    policies: tuple[Tensor, ...]


def rollout(player: Player, draws: Draws) -> Trajectories:
    """Play every task of `draws` for all its rounds; the loop runs over rounds, never over tasks."""
    histories, policies = [History.empty(draws.tasks_BK)], list[Tensor]()
    for t in range(draws.num_rounds):
        policies.append(player.policy(histories[-1]))
        arms = sample_inverse_cdf(policies[-1], draws.uniforms_BN[:, t])
        histories.append(histories[-1].then(arms, reward(draws.tasks_BK, arms, draws.noise_BN[:, t])))
    return Trajectories(tuple(histories), tuple(policies))


def uniform_policy(history: History) -> Tensor:
    """1/K everywhere, shape (B, K): what teacher and students play before they have seen anything."""
    return torch.full_like(history.counts_BK, 1 / history.counts_BK.shape[-1])


def policy_gaps(student: Player, teacher: Player, draws: Draws) -> Tensor:
    """||p_hat_{t+1} - p_{t+1}||_2 after t = 1..N rounds of the student's own playing, shape (B, N).

    The history is held fixed when the two policies are compared, then the student plays on. Paper,
    Validation Experiments.
    """
    histories = rollout(student, draws).histories[1:]
    gaps = [student.policy(history) - teacher.policy(history) for history in histories]
    norms_BN: Tensor = torch.linalg.vector_norm(torch.stack(gaps, 1), dim=-1)
    return norms_BN
