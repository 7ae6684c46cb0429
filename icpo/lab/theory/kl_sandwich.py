"""KL sandwich: the imitation KL between multiples of the loss (Theorem 1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import torch
from pydantic import NonNegativeFloat, PositiveInt
from torch import Tensor

from icpo.lab.theory.artifacts import BLUE, GREEN, RED, figure, write_curve
from icpo.lab.theory.claims import Claim, judge
from icpo.lab.theory.ranges import AtLeastTwo, OpenShare
from icpo.lab.theory.sandwich import Sandwich, repaired_lower_factor, sandwich, worst_upper_ratio
from icpo.theory.bandit import Bandit, sample_draws, seeded
from icpo.theory.flow import Flow
from icpo.theory.policies import project
from icpo.theory.rollout import rollout
from icpo.theory.statistics import collect
from icpo.theory.teacher import TeacherRecipe
from icpo.types.validated import validated


@dataclass(frozen=True, slots=True)
class Cell:
    """One K, gamma and c with its students' numbers, (S,)."""

    num_arms: int
    gamma: float
    step_size: float
    time_S: Tensor
    rms_error_S: Tensor
    ends: Sandwich
    repaired_S: Tensor


@validated
class KlSandwich:
    """Students at all stages, and an adversary, against both ends.

    For every K, gamma and c. Students are two-channel operators: normal starts of each of `start_scales`,
    moved along the gradient flow to each of `training_times` (0 leaves them random). Large `step_sizes`
    saturate the teacher. The adversary chooses logits freely, for trajectories of each of `adversary_rounds`
    lengths N.
    """

    num_arms: Sequence[AtLeastTwo]
    gammas: Sequence[OpenShare]
    step_sizes: Sequence[NonNegativeFloat]
    start_scales: Sequence[NonNegativeFloat]
    training_times: Sequence[NonNegativeFloat]
    teacher: TeacherRecipe
    tau_w: NonNegativeFloat
    sigma: NonNegativeFloat
    num_rounds: AtLeastTwo
    num_tasks: PositiveInt
    adversary_rounds: Sequence[AtLeastTwo]
    adversary_restarts: PositiveInt
    adversary_steps: PositiveInt
    device: str
    seed: int

    def run(self, cell: Path) -> Mapping[str, object]:
        """Writes students.csv, counterexample.csv and sandwich.{png,pdf}; returns violations and claims."""
        generator = seeded(self.seed, self.device)
        grid = product(self.num_arms, self.gammas, self.step_sizes)
        cells = [self._cell(K, gamma, c, generator) for K, gamma, c in grid]
        adversary = {
            (K, gamma, N): self._worst(K, gamma, N, generator)
            for K, gamma, N in product(self.num_arms, self.gammas, self.adversary_rounds)
        }
        a_S = torch.linspace(0.5, 10, 20, dtype=torch.float64)
        counterexample = two_armed_counterexample(a_S, 0.05)
        uniform = near_uniform(max(self.num_arms), self.gammas[0], generator)
        write_students(cell, cells, self.num_rounds)
        columns = {
            "a": a_S,
            "kl": counterexample.kl_S,
            "loss": counterexample.loss_S,
            "lower_ratio": counterexample.lower_ratio_S,
        }
        write_curve(cell / "counterexample.csv", columns)
        plot_sandwich(cell, cells, adversary)
        tally = count_violations(cells, self.num_rounds)
        worst = max(adversary.values())
        worst_summed = max(2 / (N - 1) * ratio for (_, _, N), ratio in adversary.items())
        return {
            **tally,
            "adversarial_upper_ratio": worst,
            "adversarial_upper_ratio_summed_loss": worst_summed,
            "counterexample_max_kl": counterexample.kl_S.max().item(),
            "lower_violations_by_cell": {
                f"K={c.num_arms} gamma={c.gamma} c={c.step_size}": c.ends.lower_violations() for c in cells
            },
            **judge(
                [
                    *self._stated_claims(tally, worst_summed, uniform),
                    *proof_claims(tally, worst, counterexample, uniform),
                ],
                {"Theorem 1"},
            ),
        }

    def _cell(self, K: int, gamma: float, step_size: float, generator: torch.Generator) -> Cell:
        teacher = self.teacher.build(K, step_size, gamma, self.device)
        draws = sample_draws(Bandit(K, self.tau_w, self.sigma), self.num_tasks, self.num_rounds, generator)
        statistics = collect(teacher, draws)
        flow = Flow.of_sample(statistics)
        scales = torch.tensor(self.start_scales, dtype=torch.float64, device=self.device)[:, None, None]
        shape = (len(self.start_scales), K, 2 * K)
        starts = scales * torch.randn(shape, generator=generator, device=self.device, dtype=torch.float64)
        operators = torch.cat([flow.at(starts, time) for time in self.training_times])
        played = rollout(teacher, draws)
        z_TZ = torch.cat([h.features_BF[:, : 2 * K] for h in played.histories[1:-1]])
        teacher_TK = torch.cat([teacher.logits(h) for h in played.histories[1:-1]])
        student_STK = z_TZ @ operators.mT
        errors_STK = project(student_STK - teacher_TK)
        ends = sandwich(teacher_TK, student_STK, torch.cat(played.policies[:-1]), gamma)
        repaired_S = torch.stack([repaired_lower_factor(teacher_TK, s, gamma) for s in student_STK])
        return Cell(
            K,
            gamma,
            step_size,
            torch.tensor(self.training_times, dtype=torch.float64).repeat_interleave(len(self.start_scales)),
            errors_STK.square().sum(-1).mean(-1).sqrt().cpu(),
            ends,
            Sandwich(ends.kl_S, repaired_S * ends.loss_S, 1.0, 1.0).lower_ratio_S.cpu(),
        )

    def _worst(self, K: int, gamma: float, num_rounds: int, generator: torch.Generator) -> float:
        restarts, steps = self.adversary_restarts, self.adversary_steps
        return worst_upper_ratio(K, num_rounds, gamma, restarts, steps, generator).max().item()

    def _stated_claims(self, tally: Mapping[str, int], worst: float, uniform: Sandwich) -> list[Claim]:
        """Theorem 1 as it is stated, for the loss of Eq. (expt)."""
        count, lengths = tally["students"], ", ".join(str(N) for N in self.adversary_rounds)
        upper, lower = tally["upper_violations_summed_loss"], tally["lower_violations_summed_loss"]
        near = uniform.summed(self.num_rounds)
        return [
            Claim(
                "Theorem 1",
                "upper end, with the loss of Eq. (expt), half the sum over rounds",
                upper == 0 and worst <= 1,
                f"{upper} of {count} students above; the adversary reaches {worst:.2f} of it, "
                f"N in {{{lengths}}}",
            ),
            Claim(
                "Theorem 1",
                "lower end, with the loss of Eq. (expt)",
                lower == 0 == near.lower_violations(),
                f"{lower} of {count} students below, and {near.lower_violations()} of {len(near.kl_S)} "
                f"students near uniform; N = {self.num_rounds}",
            ),
        ]


def count_violations(cells: Sequence[Cell], num_rounds: int) -> dict[str, int]:
    """How many students are outside each end, for each loss."""
    return {
        "students": sum(len(c.time_S) for c in cells),
        "upper_violations": sum(c.ends.upper_violations() for c in cells),
        "lower_violations": sum(c.ends.lower_violations() for c in cells),
        "upper_violations_summed_loss": sum(c.ends.summed(num_rounds).upper_violations() for c in cells),
        "lower_violations_summed_loss": sum(c.ends.summed(num_rounds).lower_violations() for c in cells),
        "lower_violations_repaired": sum(int((c.repaired_S > 1 + 1e-9).sum()) for c in cells),
    }


def proof_claims(
    tally: Mapping[str, int], worst: float, counterexample: Sandwich, uniform: Sandwich
) -> list[Claim]:
    """Claims on the proof's loss, and what is true instead."""
    count, near = tally["students"], uniform.lower_ratio_S.max().item()
    upper, lower, repaired = (
        tally[f"{end}_violations{loss}"]
        for end, loss in (("upper", ""), ("lower", ""), ("lower", "_repaired"))
    )
    return [
        Claim(
            "proof of Theorem 1",
            "upper end, with the mean loss without 1/2",
            upper == 0 and worst <= 1,
            f"{upper} of {count} students above; the adversary reaches {worst:.2f} of it",
        ),
        Claim(
            "proof of Theorem 1",
            "lower end, with the mean loss without 1/2",
            lower == 0 == counterexample.lower_violations(),
            f"{lower} of {count} students below; K=2, gamma=0.05, teacher 0, student (a,-a): the KL stays "
            f"below {counterexample.kl_S.max().item():.3f} while L = a^2, "
            f"{counterexample.lower_ratio_S[-1].item():.0f} times too large at a=10",
        ),
        Claim(
            "ours",
            "lower end near uniform policies, with the mean loss without 1/2",
            near <= 1,
            f"the lower end is at most {near:.2f} of the KL there",
            identity=True,
        ),
        Claim(
            "ours",
            "lower end with (1-gamma)^2 m^2, m the smallest softmax probability",
            repaired == 0,
            f"{repaired} of {count} students below",
            identity=True,
        ),
    ]


def two_armed_counterexample(a_S: Tensor, gamma: float) -> Sandwich:
    """K = 2, teacher logits 0, student logits (a, -a): the KL is bounded, the loss is a^2."""
    student_S1K = torch.stack([a_S, -a_S], -1).unsqueeze(1)
    teacher_S1K = torch.zeros_like(student_S1K)
    return sandwich(teacher_S1K, student_S1K, torch.full_like(teacher_S1K, 0.5), gamma)


def near_uniform(num_arms: int, gamma: float, generator: torch.Generator) -> Sandwich:
    """A hundred students off by about 0.01 from teachers whose logits are about 0.01."""
    shape = (2, 100, 30, num_arms)
    teacher, error = 0.01 * torch.randn(
        shape, generator=generator, device=generator.device, dtype=torch.float64
    )
    return sandwich(teacher, teacher + error, torch.full_like(teacher, 1 / num_arms), gamma)


def write_students(cell: Path, cells: Sequence[Cell], num_rounds: int) -> None:
    """students.csv: one row for each student, with both ratios for both losses."""
    columns: dict[str, Tensor] = {
        "num_arms": torch.cat([torch.full_like(c.time_S, c.num_arms) for c in cells]),
        "gamma": torch.cat([torch.full_like(c.time_S, c.gamma) for c in cells]),
        "step_size": torch.cat([torch.full_like(c.time_S, c.step_size) for c in cells]),
        "training_time": torch.cat([c.time_S for c in cells]),
        "rms_logit_error": torch.cat([c.rms_error_S for c in cells]),
        "kl": torch.cat([c.ends.kl_S for c in cells]),
        "loss": torch.cat([c.ends.loss_S for c in cells]),
        "lower_ratio": torch.cat([c.ends.lower_ratio_S for c in cells]),
        "upper_ratio": torch.cat([c.ends.upper_ratio_S for c in cells]),
        "lower_ratio_summed_loss": torch.cat([c.ends.summed(num_rounds).lower_ratio_S for c in cells]),
        "upper_ratio_summed_loss": torch.cat([c.ends.summed(num_rounds).upper_ratio_S for c in cells]),
        "repaired_lower_ratio": torch.cat([c.repaired_S for c in cells]),
    }
    write_curve(cell / "students.csv", {name: values.cpu() for name, values in columns.items()})


def plot_sandwich(
    cell: Path, cells: Sequence[Cell], adversary: Mapping[tuple[int, float, int], float]
) -> None:
    """Plot sandwich.{png,pdf}: both ends against the KL."""
    with figure(cell, "sandwich", num_columns=2) as (lower, upper):
        first = min(c.step_size for c in cells)
        for color, label, chosen in (
            (BLUE, f"teacher with $c = {first:g}$", [c for c in cells if c.step_size == first]),
            (RED, "saturated teachers", [c for c in cells if c.step_size != first]),
        ):
            errors, ratios = (
                _joined(chosen, "rms_error_S"),
                torch.cat([c.ends.lower_ratio_S.cpu() for c in chosen]),
            )
            seen = ratios > 0
            lower.scatter(errors[seen], ratios[seen], s=7, color=color, alpha=0.6, linewidths=0, label=label)
        lower.axhline(1, color="black", lw=0.8)
        lower.set(
            xscale="log",
            yscale="log",
            xlabel="rms logit error",
            ylabel="lower end / KL",
            title="Lower end: violated above 1",
        )
        lower.legend(fontsize=7, loc="upper left")
        gammas = sorted({c.gamma for c in cells})
        students = [max(c.ends.upper_ratio_S.max().item() for c in cells if c.gamma == g) for g in gammas]
        worst = [max(ratio for (_, gamma, _), ratio in adversary.items() if gamma == g) for g in gammas]
        upper.plot(gammas, students, "o-", color=BLUE, label="worst LSA student")
        upper.plot(gammas, worst, "s-", color=GREEN, label="adversary")
        upper.axhline(1, color="black", lw=0.8)
        upper.set(
            xscale="log",
            xlabel=r"$\gamma$",
            ylabel="KL / upper end",
            title="Upper end: violated above 1",
            ylim=(0, 1.1),
        )
        upper.legend(fontsize=7, loc="upper right")


def _joined(cells: Sequence[Cell], field: str) -> Tensor:
    return torch.cat([getattr(c, field) for c in cells])
