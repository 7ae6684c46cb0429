"""Policy matching: does a trained LSA play the teacher's policy? Paper, Theorem 2 and Figure 2 (top)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from icpo.lab.theory.artifacts import BLUE, GREEN, RED, figure, plot_band, write_curve
from icpo.theory.bandit import Bandit, Draws, draw, seeded
from icpo.theory.claims import Claim, verdict
from icpo.theory.fits import Fit, Fitted
from icpo.theory.lsa import Lsa
from icpo.theory.policies import project
from icpo.theory.rollout import policy_gaps
from icpo.theory.statistics import Statistics, collect
from icpo.theory.teacher import Teacher, TeacherRecipe

CLOSED_FORM_GAP = 1e-12
TRAINED_GAP = 1e-6
STARTS = {  # by the end of a compared fit's name
    "near": "from every start near W_KQ q = (0, ..., 0, 1)",
    "unstructured": "from every unstructured start",
}


@dataclass(frozen=True, slots=True)
class PolicyMatching:
    """Train on teacher trajectories, then compare policies in the student's closed loop on fresh tasks.

    `fit` trains the student that is drawn; every fit of `compared_fits` is scored by how many of its starts
    reach the final gap asked of a trained LSA; its name ends in the kind of its starts, one of STARTS.
    `unrealisable_teacher` has U1 not parallel to 1 and lambda != 0: the fits `with_query` and
    `without_query` imitate it with and without the query column among keys and values.
    """

    bandit: Bandit
    teacher: TeacherRecipe
    gamma: float
    step_size: float
    num_rounds: int
    num_train_tasks: int
    num_test_tasks: int
    closed_form: Fit
    fit: Fit
    compared_fits: Mapping[str, Fit]
    unrealisable_teacher: TeacherRecipe
    with_query: Fit
    without_query: Fit
    device: str
    seed: int

    def run(self, cell: Path) -> Mapping[str, object]:
        """Writes gap.csv, starts.csv and gap.{png,pdf}; returns gaps, success over starts and claims."""
        generator = seeded(self.seed, self.device)
        test = draw(self.bandit, self.num_test_tasks, self.num_rounds, generator)
        easy = self._trial(self.teacher, test, generator)
        hard = self._trial(self.unrealisable_teacher, test, generator)
        trained = easy.fitted(self.fit)
        gaps = {
            "closed_form": easy.gaps(easy.fitted(self.closed_form)),
            "trained": easy.gaps(trained),
            "hard_closed_form": hard.gaps(hard.fitted(self.closed_form)),
            "with_query": hard.gaps(hard.fitted(self.with_query)),
            "without_query": hard.gaps(hard.fitted(self.without_query)),
        }
        finals = {name: final_gaps(easy.gaps(easy.fitted(fit))) for name, fit in self.compared_fits.items()}
        write_curves(cell, gaps)
        write_starts(cell, finals)
        draw_gaps(cell, gaps)
        claims = matching_claims(gaps, finals)
        return {
            "closed_form_max_gap": gaps["closed_form"].max().item(),
            "trained_final_gap": final_gaps(gaps["trained"]).max().item(),
            "trained_median_final_gap": final_gaps(gaps["trained"]).median().item(),
            "trained_losses": trained.losses_S.tolist(),
            "trained_max_projected_w12": largest_projected_w12(trained),
            "moment_rank": torch.linalg.matrix_rank(easy.statistics.second_moment_ZZ).item(),
            "successful_starts": {name: num_successful(final) for name, final in finals.items()},
            "starts": {name: len(final) for name, final in finals.items()},
            "unrealisable_best_mean_gap": gaps["with_query"].mean((-2, -1)).min().item(),
            "unrealisable_best_max_gap": gaps["with_query"].amax((-2, -1)).min().item(),
            "repaired_worst_max_gap": gaps["without_query"].max().item(),
            "claims": [claim.as_json() for claim in claims],
            "verdict": verdict(
                [claim for claim in claims if claim.source in ("Theorem 2", "Figure 2 (top)")]
            ),
        }

    def _trial(self, recipe: TeacherRecipe, test: Draws, generator: torch.Generator) -> "Trial":
        teacher = recipe.build(self.bandit.num_arms, self.step_size, self.gamma, self.device)
        train = draw(self.bandit, self.num_train_tasks, self.num_rounds, generator)
        return Trial(teacher, collect(teacher, train), test, generator)


@dataclass(frozen=True, slots=True)
class Trial:
    """A teacher, the statistics of its trajectories, and the fresh tasks on which students are judged."""

    teacher: Teacher
    statistics: Statistics
    test: Draws
    generator: torch.Generator

    def fitted(self, fit: Fit) -> Fitted:
        """The students that a fit makes of this teacher's trajectories."""
        return fit.fit(self.statistics, self.teacher.gamma, self.generator)

    def gaps(self, fitted: Fitted) -> Tensor:
        """Gap of every student to the teacher on the student's own trajectories, shape (S, B, N)."""
        return torch.stack([policy_gaps(student, self.teacher, self.test) for student in fitted.students])


def final_gaps(gaps_SBN: Tensor) -> Tensor:
    """Mean gap over tasks after the last round, shape (S,); not a number for a student that diverged."""
    return gaps_SBN[..., -1].mean(-1)


def num_successful(final_S: Tensor) -> int:
    """How many starts end with the gap asked of a trained LSA; a student that diverged does not."""
    return int((final_S <= TRAINED_GAP).sum())


def largest_projected_w12(fitted: Fitted) -> float | None:
    """Largest entry of Proj w12 over all trained LSAs, 0 in the lemma; None where there is no LSA."""
    columns = [project(student.W_PV[:-1, -1]) for student in fitted.students if isinstance(student, Lsa)]
    return torch.stack(columns).abs().max().item() if columns else None


def matching_claims(gaps: Mapping[str, Tensor], finals: Mapping[str, Tensor]) -> list[Claim]:
    """What the gaps, each (S, B, N), and the compared fits' final gaps, each (S,), say of Theorem 2."""
    closed = gaps["closed_form"].max().item()
    best, two_channel = gaps["with_query"].amax((-2, -1)).min().item(), gaps["hard_closed_form"].max().item()
    repaired = gaps["without_query"].max().item()
    return [
        Claim(
            "Theorem 2",
            "the two-channel optimum plays the teacher's policy on every history",
            closed <= CLOSED_FORM_GAP,
            f"largest gap {closed:.1e} over tasks and rounds",
        ),
        *start_claims(finals),
        Claim(
            "Theorem 2, any H",
            "the paper's LSA realises teachers with U1 not parallel to 1 and lambda != 0",
            best <= TRAINED_GAP,
            f"smallest of the starts' largest gaps {best:.1e}; the free two-channel operator reaches "
            f"{two_channel:.1e}",
        ),
        Claim(
            "ours",
            "it does once the query column is no key and no value",
            repaired <= TRAINED_GAP,
            f"largest gap over all starts {repaired:.1e}",
        ),
    ]


def start_claims(finals: Mapping[str, Tensor]) -> list[Claim]:
    """Whether training finds the teacher from each kind of starts; final gaps (S,) by compared fit."""
    claims = []
    for kind, words in STARTS.items():
        own = {name: final for name, final in finals.items() if name.endswith(f"_{kind}")}
        counts = [
            f"{num_successful(final)} of {len(final)} ({name.removesuffix(f'_{kind}')})"
            for name, final in own.items()
        ]
        claims.append(
            Claim(
                "Figure 2 (top)",
                f"an LSA trained on its own matrices plays the teacher's policy {words}",
                all(num_successful(final) == len(final) for final in own.values()),
                f"starts that end with a gap of at most {TRAINED_GAP:.0e}: {', '.join(counts)}",
            )
        )
    return claims


def write_curves(cell: Path, gaps: Mapping[str, Tensor]) -> None:
    """gap.csv: mean and standard deviation over tasks (and starts) at each round, for each student."""
    rounds = torch.arange(2, gaps["trained"].shape[-1] + 2)
    columns: dict[str, Tensor] = {"round": rounds}
    for name, gaps_SBN in gaps.items():
        flat = gaps_SBN.flatten(0, 1).cpu()
        columns |= {f"{name}_mean": flat.mean(0), f"{name}_std": flat.std(0)}
    write_curve(cell / "gap.csv", columns)


def write_starts(cell: Path, finals: Mapping[str, Tensor]) -> None:
    """starts.csv: the final gap of every start of every compared fit."""
    rows = [(name, i, gap) for name, final in finals.items() for i, gap in enumerate(final.tolist())]
    names, starts, values = zip(*rows, strict=True)
    write_curve(cell / "starts.csv", {"fit": names, "start": starts, "final_gap": values})


def draw_gaps(cell: Path, gaps: Mapping[str, Tensor]) -> None:
    """gap.{png,pdf}: the paper's Figure 2 (top), and beside it a teacher out of its LSA's reach."""
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
