"""Theorem 1: the mixed-policy KL between two multiples of the Fisher-weighted loss.

Shapes: leading dimensions S are independent cases; T prefixes (tau, t), K arms. Everything is a function of
the teacher's and the student's logits s_{t+1} and of the policies p_t whose Fisher matrices are averaged.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from icpo.theory.policies import fisher, kl_nats, mixed_policy, project


@dataclass(frozen=True, slots=True)
class Sandwich:
    """Mean KL and loss of each case, (S,), and their factors.

    `loss_S` is the proof's L, the mean of ||Delta||^2_Gamma over prefixes. Theorem 1 is stated for the L of
    Eq. (expt), half the sum over a trajectory's rounds: `summed`.
    """

    kl_S: Tensor
    loss_S: Tensor
    lower_factor: float
    upper_factor: float

    def summed(self, num_rounds: int) -> "Sandwich":
        """The same with Eq. (expt)'s loss, (N - 1)/2 times larger."""
        return Sandwich(self.kl_S, 0.5 * (num_rounds - 1) * self.loss_S, self.lower_factor, self.upper_factor)

    @property
    def upper_ratio_S(self) -> Tensor:
        """KL over the theorem's upper end; above 1 it is violated."""
        return _ratio(self.kl_S, self.upper_factor * self.loss_S)

    @property
    def lower_ratio_S(self) -> Tensor:
        """The theorem's lower end over KL; above 1 it is violated."""
        return _ratio(self.lower_factor * self.loss_S, self.kl_S)

    def upper_violations(self, tolerance: float = 1e-9) -> int:
        """How many cases are above the upper end by more than rounding."""
        return int((self.upper_ratio_S > 1 + tolerance).sum())

    def lower_violations(self, tolerance: float = 1e-9) -> int:
        """How many cases are below the lower end by more than rounding."""
        return int((self.lower_ratio_S > 1 + tolerance).sum())


def sandwich(teacher_STK: Tensor, student_STK: Tensor, weights_STK: Tensor, gamma: float) -> Sandwich:
    """Both ends of Theorem 1 for given logits and weights."""
    K = teacher_STK.shape[-1]
    delta_STK = project(student_STK - teacher_STK)
    gamma_SKK = fisher(weights_STK).mean(-3)
    loss_S = ((delta_STK @ gamma_SKK) * delta_STK).sum(-1).mean(-1)
    kl_S = kl_nats(mixed_policy(teacher_STK, gamma), mixed_policy(student_STK, gamma)).mean(-1)
    return Sandwich(kl_S, loss_S, (1 - gamma) ** 2 / 4, K / (4 * gamma))


def repaired_lower_factor(teacher_STK: Tensor, student_STK: Tensor, gamma: float) -> Tensor:
    """A factor for which the lower end does hold, (S,).

    It is (1-gamma)^2 m^2, m the smallest softmax probability. The averaged softmax Jacobian between the
    logits is at least m on 1-perp (the mixture argument of the Fisher lemma with gamma = K m), so ||p -
    p_hat||_2 >= (1-gamma) m ||Delta||_2; Pinsker and Gamma <= 1/2 do the rest. The log-probability of an arm
    is concave along a segment of logits, so m is attained at one of the two ends.
    """
    lowest_S = torch.minimum(
        torch.softmax(teacher_STK, -1).amin((-2, -1)), torch.softmax(student_STK, -1).amin((-2, -1))
    )
    return (1 - gamma) ** 2 * lowest_S**2


def worst_upper_ratio(
    num_arms: int,
    num_rounds: int,
    gamma: float,
    num_restarts: int,
    num_steps: int,
    generator: torch.Generator,
) -> Tensor:
    """Largest ratio of KL to upper end by ascent, (S,).

    Teacher logits s_2..s_N and student errors are free; p_1 is uniform, as in the data, and Gamma averages
    p_1..p_{N-1}. Half the restarts begin where the proof is tightest: a teacher split between two arms in one
    round and sure of a third in all others, and a student wrong between the two in that round.
    """
    shape = (num_restarts, num_rounds - 1, num_arms)
    teacher = 0.1 * torch.randn(shape, generator=generator, device=generator.device, dtype=torch.float64)
    error = 0.1 * torch.randn(shape, generator=generator, device=generator.device, dtype=torch.float64)
    if num_arms > 2:
        teacher[::2, :, 2] += 8
        teacher[::2, -1, 2] -= 16
        error[::2, :-1] *= 0
        error[::2, -1, 0] += 0.1
        error[::2, -1, 1] -= 0.1
    teacher.requires_grad_()
    error.requires_grad_()
    optimizer = torch.optim.Adam([teacher, error], lr=0.05)
    best_S = torch.zeros(num_restarts, device=generator.device, dtype=torch.float64)
    for _ in range(num_steps):
        uniform = torch.full_like(teacher[:, :1], 1 / num_arms)
        weights = torch.cat([uniform, mixed_policy(teacher[:, :-1], gamma)], 1)
        ratio_S = sandwich(teacher, teacher + error, weights, gamma).upper_ratio_S
        best_S = torch.maximum(best_S, ratio_S.detach())
        teacher.grad, error.grad = torch.autograd.grad(-ratio_S.log().sum(), (teacher, error))
        optimizer.step()
    return best_S


def _ratio(part_S: Tensor, whole_S: Tensor) -> Tensor:
    """Part / whole, 0 where both vanish to rounding: there a ratio says nothing."""
    return torch.where((part_S.abs() < 1e-14) & (whole_S.abs() < 1e-14), 0.0, part_S / whole_S)
