"""Policy matching of a trained LSA (Theorem 2, Figure 2, top)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import torch
from pydantic import NonNegativeFloat, PositiveInt
from torch import Tensor

from icpo.lab.theory.artifacts import BLUE, GREEN, RED, figure, plot_band, write_curve
from icpo.lab.theory.claims import Claim, judge
from icpo.lab.theory.ranges import AtLeastTwo, Share
from icpo.lab.theory.realisability import as_json, check_metrics, realisability_claims
from icpo.theory.bandit import Bandit, Draws, sample_draws, seeded
from icpo.theory.fits import Adam, Fit, Fitted, Lbfgs, LevenbergMarquardt, LsaFit, fitted_lsas
from icpo.theory.lsa import Lsa
from icpo.theory.objectives import imitation_kl
from icpo.theory.policies import project
from icpo.theory.rollout import policy_gaps
from icpo.theory.statistics import Statistics, collect
from icpo.theory.teacher import Teacher, TeacherRecipe
from icpo.types.validated import validated

CLOSED_FORM_GAP = 1e-12
TRAINED_GAP = 1e-6
NEAR, BY_KL = "near", "adam on the KL"
AnyFit = TypeVar("AnyFit", Adam, Lbfgs, LevenbergMarquardt, LsaFit, Adam | Lbfgs)


@validated
class PolicyMatching:
    """Train on the teacher, then compare policies on fresh tasks.

    They are compared in the student's closed loop. `fit` trains the student of the figure. Every one of
    `compared_fits` (Fisher-weighted loss) and `kl_fit` (imitation KL) is scored by how many of its starts
    reach TRAINED_GAP: from its own start, near the solution's form, and from unstructured starts of each of
    `scales`. `general_teacher` is not realisable: `with_query` and `without_query` imitate it with and
    without the query column among keys and values. `num_metrics` random H of each kind are tried for each of
    `metric_arms`.
    """

    bandit: Bandit
    teacher: TeacherRecipe
    gamma: Share
    step_size: NonNegativeFloat
    num_rounds: AtLeastTwo
    num_train_tasks: PositiveInt
    num_test_tasks: PositiveInt
    closed_form: Fit
    fit: Fit
    compared_fits: Mapping[str, LsaFit]
    kl_fit: Adam | Lbfgs
    scales: Sequence[NonNegativeFloat]
    general_teacher: TeacherRecipe
    with_query: Fit
    without_query: Fit
    metric_arms: Sequence[AtLeastTwo]
    num_metrics: PositiveInt
    device: str
    seed: int

    def run(self, cell: Path) -> Mapping[str, object]:
        """Writes gap.csv, starts.csv and gap.{png,pdf}; returns gaps, success over starts and claims."""
        generator = seeded(self.seed, self.device)
        test = sample_draws(self.bandit, self.num_test_tasks, self.num_rounds, generator)
        easy = self._trial(self.teacher, test, generator)
        hard = self._trial(self.general_teacher, test, generator)
        trained = easy.fitted(self.fit)
        gaps = {
            "closed_form": easy.gaps(easy.fitted(self.closed_form)),
            "trained": easy.gaps(trained),
            "with_query": hard.gaps(hard.fitted(self.with_query)),
            "without_query": hard.gaps(hard.fitted(self.without_query)),
        }
        finals = self._finals(easy)
        penalty = self.general_teacher.penalty
        kinds = check_metrics(
            penalty, self.step_size, self.gamma, self.metric_arms, self.num_metrics, self.seed
        )
        write_curves(cell, gaps)
        write_starts(cell, finals)
        plot_gaps(cell, gaps)
        claims = [*matching_claims(gaps, finals), *realisability_claims(kinds, self.metric_arms)]
        return {
            "closed_form_max_gap": gaps["closed_form"].max().item(),
            "trained_final_gap": final_gaps(gaps["trained"]).max().item(),
            "trained_median_final_gap": final_gaps(gaps["trained"]).median().item(),
            "trained_losses": trained.losses_S.tolist(),
            "trained_max_projected_w12": largest_projected_w12(trained),
            "moment_rank": torch.linalg.matrix_rank(easy.statistics.second_moment_ZZ).item(),
            "successful_starts": {
                start: {name: num_successful(final) for name, final in fits.items()}
                for start, fits in finals.items()
            },
            "starts": {name: len(final) for name, final in finals[NEAR].items()},
            "unrealisable_best_mean_gap": gaps["with_query"].mean((-2, -1)).min().item(),
            "unrealisable_best_max_gap": gaps["with_query"].amax((-2, -1)).min().item(),
            "repaired_worst_max_gap": gaps["without_query"].max().item(),
            "metrics": as_json(kinds),
            **judge(claims, {"Theorem 2", "Theorem 2, any H", "Figure 2 (top)"}),
        }

    def _finals(self, trial: "Trial") -> dict[str, dict[str, Tensor]]:
        """Final gaps (S,) of every compared fit, by its starts: `near`, or an unstructured scale."""
        finals = {}
        for scale in (None, *self.scales):
            by_fit = {
                name: final_gaps(trial.gaps(trial.fitted(restarted(fit, scale))))
                for name, fit in self.compared_fits.items()
            }
            by_kl = final_gaps(trial.gaps(trial.fitted_by_kl(restarted(self.kl_fit, scale))))
            finals[NEAR if scale is None else f"{scale:g}"] = {**by_fit, BY_KL: by_kl}
        return finals

    def _trial(self, recipe: TeacherRecipe, test: Draws, generator: torch.Generator) -> "Trial":
        teacher = recipe.build(self.bandit.num_arms, self.step_size, self.gamma, self.device)
        train = sample_draws(self.bandit, self.num_train_tasks, self.num_rounds, generator)
        return Trial(teacher, train, collect(teacher, train), test, generator)


@dataclass(frozen=True, slots=True)
class Trial:
    """A teacher, its training statistics, and fresh tasks."""

    teacher: Teacher
    train: Draws
    statistics: Statistics
    test: Draws
    generator: torch.Generator

    def fitted(self, fit: Fit) -> Fitted:
        """The students that a fit makes of this teacher's trajectories."""
        return fit.fit(self.statistics, self.teacher.gamma, self.generator)

    def fitted_by_kl(self, fit: Adam | Lbfgs) -> Fitted:
        """LSAs trained on the KL instead of the Fisher-weighted loss."""
        theta_SP = fit.start.sample(self.statistics.num_arms, self.generator)
        loss = imitation_kl(self.teacher, self.train, fit.attends_query)
        return fitted_lsas(fit.minimise(loss, theta_SP), loss, self.teacher.gamma, fit.attends_query)

    def gaps(self, fitted: Fitted) -> Tensor:
        """Gaps to the teacher on the students' trajectories, (S, B, N)."""
        return torch.stack([policy_gaps(student, self.teacher, self.test) for student in fitted.students])


def restarted(fit: AnyFit, scale: float | None) -> AnyFit:
    """The same fit from unstructured starts of this scale, if any."""
    if scale is None:
        return fit
    return replace(fit, start=replace(fit.start, kind="unstructured", scale=scale))


def final_gaps(gaps_SBN: Tensor) -> Tensor:
    """Mean gap after the last round, (S,); NaN if diverged."""
    return gaps_SBN[..., -1].mean(-1)


def num_successful(final_S: Tensor) -> int:
    """How many starts end with a gap of at most TRAINED_GAP."""
    return int((final_S <= TRAINED_GAP).sum())


def largest_projected_w12(fitted: Fitted) -> float | None:
    """Largest entry of Proj w12 over trained LSAs, or None."""
    columns = [project(student.W_PV[:-1, -1]) for student in fitted.students if isinstance(student, Lsa)]
    return torch.stack(columns).abs().max().item() if columns else None


def matching_claims(gaps: Mapping[str, Tensor], finals: Mapping[str, Mapping[str, Tensor]]) -> list[Claim]:
    """Claims on Theorem 2 from the gaps of all fits."""
    closed, repaired = gaps["closed_form"].max().item(), gaps["without_query"].max().item()
    near, *unstructured = finals
    by_fisher = {name: final for name, final in finals[near].items() if name != BY_KL}
    return [
        Claim(
            "Theorem 2",
            "the two-channel optimum plays the teacher's policy on every history",
            closed <= CLOSED_FORM_GAP,
            f"largest gap {closed:.1e} over tasks and rounds",
            identity=True,
        ),
        Claim(
            "Figure 2 (top)",
            "an LSA trained on its own matrices plays the teacher's policy from every start near "
            "W_KQ q = (0, ..., 0, 1)",
            all(map(all_successful, by_fisher.values())),
            f"starts that end with a gap of at most {TRAINED_GAP:.0e}: {counts(by_fisher)}",
        ),
        Claim(
            "ours",
            "so does an LSA trained on the KL in place of the Fisher-weighted loss, from those starts",
            all_successful(finals[near][BY_KL]),
            counts({BY_KL: finals[near][BY_KL]}),
        ),
        Claim(
            "ours",
            "both do from every unstructured start, whatever its scale",
            all(all_successful(final) for start in unstructured for final in finals[start].values()),
            "; ".join(f"scale {start}: {counts(finals[start])}" for start in unstructured),
        ),
        Claim(
            "ours",
            "the LSA learns the teacher of a general H once the query column is no key and no value",
            repaired <= TRAINED_GAP,
            f"largest gap over all starts {repaired:.1e}",
        ),
    ]


def all_successful(final_S: Tensor) -> bool:
    """Whether every start ends with a gap of at most TRAINED_GAP."""
    return num_successful(final_S) == len(final_S)


def counts(finals: Mapping[str, Tensor]) -> str:
    """`23 of 24 (adam), ...`: the successful starts of each fit."""
    return ", ".join(f"{num_successful(final)} of {len(final)} ({name})" for name, final in finals.items())


def write_curves(cell: Path, gaps: Mapping[str, Tensor]) -> None:
    """Write gap.csv: mean and deviation by round and student."""
    rounds = torch.arange(2, gaps["trained"].shape[-1] + 2)
    columns: dict[str, Tensor] = {"round": rounds}
    for name, gaps_SBN in gaps.items():
        flat = gaps_SBN.flatten(0, 1).cpu()
        columns |= {f"{name}_mean": flat.mean(0), f"{name}_std": flat.std(0)}
    write_curve(cell / "gap.csv", columns)


def write_starts(cell: Path, finals: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Write starts.csv: the final gap of every start and fit."""
    rows = [
        (start, name, i, gap)
        for start, fits in finals.items()
        for name, final in fits.items()
        for i, gap in enumerate(final.tolist())
    ]
    write_curve(
        cell / "starts.csv",
        dict(zip(("starts", "fit", "start", "final_gap"), zip(*rows, strict=True), strict=True)),
    )


def plot_gaps(cell: Path, gaps: Mapping[str, Tensor]) -> None:
    """Plot gap.{png,pdf}: Figure 2 (top), and another teacher beside."""
    curves = {name: gaps_SBN.flatten(0, 1).cpu() for name, gaps_SBN in gaps.items()}
    rounds = torch.arange(2, curves["trained"].shape[-1] + 2)
    with figure(cell, "gap", num_columns=2) as (top, other):
        plot_band(top, rounds, curves["trained"], BLUE, "trained LSA")
        plot_band(top, rounds, curves["closed_form"], GREEN, "two-channel closed form")
        top.set_title("Policy matching, $H = I$")
        plot_band(other, rounds, curves["with_query"], RED, "paper's LSA")
        plot_band(other, rounds, curves["without_query"], BLUE, "query not attended")
        other.set_title(r"$U\mathbf{1} \nparallel \mathbf{1}$, $\lambda \neq 0$")
        for axes in (top, other):
            axes.set(yscale="log", xlabel="round $t$", ylabel=r"$\|\hat p_t - p_t\|_2$", ylim=(1e-18, 1))
            axes.legend(loc="center right")
