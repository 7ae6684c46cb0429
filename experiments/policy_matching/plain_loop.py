"""Policy matching as a plain Python loop over tasks, rounds and arms: what the benchmark measures against.

Floats and lists only, and the same arithmetic as the batched pipeline.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Vector = list[float]
Matrix = list[Vector]


@dataclass(frozen=True, slots=True)
class PlainTeacher:
    """The teacher's numbers as lists."""

    step_size: float
    gamma: float
    U: Matrix
    V: Matrix

    def logits(self, counts: Vector, rewards: Vector, t: int) -> Vector:
        """(c/t) (U g + V n)."""
        pulled = zip(times(self.U, rewards), times(self.V, counts), strict=True)
        return [self.step_size / t * (u + v) for u, v in pulled]


@dataclass(slots=True)
class Sums:
    """The running sums of the least squares and of the Fisher matrices."""

    num_arms: int
    second: Matrix = field(init=False)
    cross: Matrix = field(init=False)
    fisher: Matrix = field(init=False)
    num_prefixes: int = 0

    def __post_init__(self) -> None:
        K = self.num_arms
        self.second = [[0.0] * (2 * K) for _ in range(2 * K)]
        self.cross = [[0.0] * K for _ in range(2 * K)]
        self.fisher = [[0.0] * K for _ in range(K)]

    def add(self, policy: Vector, z: Vector, label: Vector) -> None:
        """One prefix: the policy played before it, its statistics, and the projected logits after it."""
        self.num_prefixes += 1
        for i, p in enumerate(policy):
            row = self.fisher[i]
            for j, q in enumerate(policy):
                row[j] -= p * q
            row[i] += p
        for i, a in enumerate(z):
            second, cross = self.second[i], self.cross[i]
            for j, b in enumerate(z):
                second[j] += a * b
            for j, b in enumerate(label):
                cross[j] += a * b


def times(matrix: Matrix, vector: Vector) -> Vector:
    """Matrix times vector."""
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def mixed(logits: Vector, gamma: float) -> Vector:
    """Softmax mixed with gamma of uniform exploration."""
    top = max(logits)
    weights = [math.exp(s - top) for s in logits]
    total = sum(weights)
    return [(1 - gamma) * w / total + gamma / len(weights) for w in weights]


def sampled(policy: Vector, uniform: float) -> int:
    """The arm whose stretch of [0, 1) holds the uniform."""
    edge = 0.0
    for arm, p in enumerate(policy[:-1]):
        edge += p
        if uniform < edge:
            return arm
    return len(policy) - 1


Task = tuple[Vector, Vector, Vector]  # Its arms' values, its uniforms and its noise.


def train(teacher: PlainTeacher, tasks: Sequence[Task]) -> Sums:
    """The teacher's trajectories, summed up over their prefixes t = 1..N-1."""
    K = len(teacher.U)
    sums = Sums(K)
    for w, uniforms, noise in tasks:
        counts, rewards, policy = [0.0] * K, [0.0] * K, [1 / K] * K
        for t in range(1, len(noise)):
            arm = sampled(policy, uniforms[t - 1])
            counts[arm] += 1
            rewards[arm] += w[arm] + noise[t - 1]
            logits = teacher.logits(counts, rewards, t)
            mean = sum(logits) / K
            z = [n / t for n in counts] + [g / t for g in rewards]
            sums.add(policy, z, [s - mean for s in logits])
            policy = mixed(logits, teacher.gamma)
    return sums


def closed_loop(teacher: PlainTeacher, operator: Matrix, tasks: Sequence[Task]) -> Matrix:
    """The student's gap to the teacher after each round of its own playing, for each task."""
    K = len(teacher.U)
    gaps: Matrix = []
    for w, uniforms, noise in tasks:
        counts, rewards, policy = [0.0] * K, [0.0] * K, [1 / K] * K
        gaps.append([])
        for t in range(1, len(noise) + 1):
            arm = sampled(policy, uniforms[t - 1])
            counts[arm] += 1
            rewards[arm] += w[arm] + noise[t - 1]
            z = [n / t for n in counts] + [g / t for g in rewards]
            policy = mixed(times(operator, z), teacher.gamma)
            aim = mixed(teacher.logits(counts, rewards, t), teacher.gamma)
            gaps[-1].append(math.dist(policy, aim))
    return gaps
