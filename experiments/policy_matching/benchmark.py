"""Batched policy matching against a plain Python loop over tasks and rounds, in one run.

Both do the same arithmetic on the same draws: teacher trajectories, Gamma-hat, the least squares of the
closed form, and the student's closed loop on 64 fresh tasks. The loop runs on fewer tasks and is compared
per task; where both run on the same tasks their results must agree to 1e-12. Wall and CPU seconds of the
whole process are given: on a machine that is busy with other work they differ.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from plain_loop import PlainTeacher, Task, closed_loop, train

from icpo.theory.bandit import Bandit, Draws, sample_draws, seeded
from icpo.theory.lsa import TwoChannel
from icpo.theory.rollout import policy_gaps
from icpo.theory.statistics import collect
from icpo.theory.teacher import Teacher, TeacherRecipe

AGREEMENT = 1e-12


@dataclass(frozen=True, slots=True)
class Result:
    """What a pipeline found."""

    operator_KZ: np.ndarray
    fisher_KK: np.ndarray
    gaps_BN: np.ndarray

    def distance(self, other: "Result") -> float:
        """The largest difference of any number."""
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return max(float(abs(mine - theirs).max()) for mine, theirs in pairs)

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.operator_KZ, self.fisher_KK, self.gaps_BN


def batched(teacher: Teacher, training: Draws, test: Draws) -> Result:
    """The project's own pipeline."""
    statistics = collect(teacher, training)
    student = TwoChannel(statistics.least_squares(2 * statistics.num_arms, 1e-10), teacher.gamma)
    gaps = policy_gaps(student, teacher, test)
    return Result(student.operator_KZ.numpy(), statistics.fisher_KK.numpy(), gaps.numpy())


def looped(teacher: Teacher, training: Draws, test: Draws) -> Result:
    """The plain loop; only the 2K x 2K system at the end is solved by numpy."""
    plain = PlainTeacher(teacher.step_size, teacher.gamma, teacher.U.tolist(), teacher.V.tolist())
    sums = train(plain, as_tasks(training))
    operator = np.linalg.solve(np.array(sums.second), np.array(sums.cross)).T
    gaps = closed_loop(plain, operator.tolist(), as_tasks(test))
    return Result(operator, np.array(sums.fisher) / sums.num_prefixes, np.array(gaps))


def as_tasks(draws: Draws) -> list[Task]:
    """The draws as lists, task by task."""
    columns = (draws.tasks_BK.tolist(), draws.uniforms_BN.tolist(), draws.noise_BN.tolist())
    return list(zip(*columns, strict=True))


def timed(pipeline: Callable[[], Result]) -> tuple[Result, float, float]:
    """The result, its CPU seconds and its wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = pipeline()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def main() -> None:
    """Prints the times, their ratios per task and the largest difference of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100_000, help="training tasks of the batched pipeline")
    parser.add_argument("--looped-tasks", type=int, default=2_000, help="training tasks that both run on")
    parser.add_argument("--repeats", type=int, default=3, help="batched runs, of which the fastest counts")
    arguments = parser.parse_args()
    bandit, generator = Bandit(num_arms=10, tau_w=1.0, sigma=0.5), seeded(0, "cpu")
    teacher = TeacherRecipe("identity", penalty=0.5).build(10, step_size=1.0, gamma=0.2, device="cpu")
    test = sample_draws(bandit, 64, 30, generator)
    small = sample_draws(bandit, arguments.looped_tasks, 30, generator)
    large = sample_draws(bandit, arguments.tasks, 30, generator)
    plain, plain_cpu, plain_wall = timed(lambda: looped(teacher, small, test))
    difference = plain.distance(batched(teacher, small, test))
    runs = [timed(lambda: batched(teacher, large, test))[1:] for _ in range(arguments.repeats)]
    cpu, wall = min(runs, key=lambda run: run[1])
    scale = arguments.tasks / arguments.looped_tasks
    print(f"plain loop  B={arguments.looped_tasks:>7}: {plain_wall:7.2f} s wall, {plain_cpu:7.2f} s CPU")
    print(f"batched     B={arguments.tasks:>7}: {wall:7.2f} s wall, {cpu:7.2f} s CPU")
    print(f"ratio per task: {plain_wall * scale / wall:.0f}x wall, {plain_cpu * scale / cpu:.0f}x CPU")
    print(f"largest difference on equal tasks: {difference:.1e} (at most {AGREEMENT})")
    if difference > AGREEMENT:
        raise SystemExit("The two pipelines disagree.")


if __name__ == "__main__":
    main()
