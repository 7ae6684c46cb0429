"""The closed loop as a bandit algorithm, beyond the paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import NonNegativeFloat, PositiveInt
from torch import Tensor

from icpo.errors import ConfigError
from icpo.lab.theory.artifacts import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, figure, write_curve
from icpo.lab.theory.claims import Claim, judge
from icpo.lab.theory.learners import Exp3, Policy, Thompson, Ucb, cumulative_regret, growth_exponent
from icpo.lab.theory.padding import permutation_averaged, zero_padded
from icpo.lab.theory.ranges import AtLeastTwo, Share
from icpo.theory.bandit import Bandit, sample_draws, seeded
from icpo.theory.fits import Fit
from icpo.theory.lsa import Lsa
from icpo.theory.rollout import policy_gaps
from icpo.theory.statistics import collect
from icpo.theory.teacher import TeacherRecipe
from icpo.types.validated import validated

STYLES: Mapping[str, Mapping[str, Any]] = {
    "teacher": {"color": GREEN, "lw": 4, "alpha": 0.5},
    "LSA": {"color": BLUE, "ls": "--", "lw": 1.5},
    "rough LSA": {"color": ORANGE, "ls": ":", "lw": 1.5},
    "Thompson": {"color": RED, "lw": 1.2},
    "UCB": {"color": PURPLE, "lw": 1.2},
    "EXP3": {"color": GREY, "lw": 1.2},
}
IMITATED = 1e-6


@dataclass(frozen=True, slots=True)
class Scene:
    """A bandit to play, and how the LSA fits its arms."""

    bandit: Bandit
    extension: Literal["none", "zero_padding", "permutation_average"] = "none"

    def extended(self, lsa: Lsa) -> Lsa:
        """The trained LSA at this scene's size."""
        if self.extension == "none":
            return lsa
        extend = {"zero_padding": zero_padded, "permutation_average": permutation_averaged}[self.extension]
        return extend(lsa, self.bandit.num_arms)


@dataclass(frozen=True, slots=True)
class Played:
    """One scene: cumulative regret and gaps to the teacher, (B, T)."""

    regret: Mapping[str, Tensor]
    gaps: Mapping[str, Tensor]


@validated
class BanditRegret:
    """Train on the first scene's bandit, then play all scenes.

    Students, teacher and classical algorithms play. All players of a scene share tasks, noise and uniforms.
    `fit` makes the LSA, `rough_fit` one trained too briefly. Thompson sampling, UCB and EXP3 know the
    training bandit's tau_w and sigma, in every scene.
    """

    scenes: Mapping[str, Scene]
    teacher: TeacherRecipe
    gamma: Share
    step_size: NonNegativeFloat
    num_train_rounds: AtLeastTwo
    num_train_tasks: PositiveInt
    num_test_tasks: PositiveInt
    horizons: Sequence[PositiveInt]
    exp3_gamma: Share
    fit: Fit
    rough_fit: Fit
    device: str
    seed: int

    def run(self, cell: Path) -> Mapping[str, object]:
        """Writes regret.csv and regret.{png,pdf}; returns regrets at the horizons, gaps and claims."""
        generator = seeded(self.seed, self.device)
        home = next(iter(self.scenes.values())).bandit
        teacher = self.teacher.build(home.num_arms, self.step_size, self.gamma, self.device)
        statistics = collect(
            teacher, sample_draws(home, self.num_train_tasks, self.num_train_rounds, generator)
        )
        students = {
            "LSA": only_lsa(self.fit.fit(statistics, self.gamma, generator).students[0]),
            "rough LSA": only_lsa(self.rough_fit.fit(statistics, self.gamma, generator).students[0]),
        }
        played = {name: self._play(scene, home, students, generator) for name, scene in self.scenes.items()}
        write_regrets(cell, played, self.horizons)
        plot_regrets(cell, played)
        claims = self._claims(played)
        return {
            "regret": {
                scene: {
                    player: [regret[:, horizon - 1].mean().item() for horizon in self.horizons]
                    for player, regret in p.regret.items()
                }
                for scene, p in played.items()
            },
            "horizons": list(self.horizons),
            "largest_gap": {
                s: {name: gap.max().item() for name, gap in p.gaps.items()} for s, p in played.items()
            },
            "growth_exponent": {
                scene: {player: growth_exponent(regret) for player, regret in p.regret.items()}
                for scene, p in played.items()
            },
            **judge(claims, {"ours"}),
        }

    def _play(
        self, scene: Scene, home: Bandit, students: Mapping[str, Lsa], generator: torch.Generator
    ) -> Played:
        draws = sample_draws(scene.bandit, self.num_test_tasks, max(self.horizons), generator)
        teacher = self.teacher.build(scene.bandit.num_arms, self.step_size, self.gamma, self.device)
        extended = {name: scene.extended(lsa) for name, lsa in students.items()}
        policies = {"teacher": Policy(teacher), **{name: Policy(lsa) for name, lsa in extended.items()}}
        regret = {name: cumulative_regret(policy, draws) for name, policy in policies.items()}
        regret["Thompson"] = cumulative_regret(Thompson(home.tau_w, home.sigma, generator), draws)
        regret["UCB"] = cumulative_regret(Ucb(home.sigma), draws)
        regret["EXP3"] = cumulative_regret(Exp3(home.tau_w, self.exp3_gamma), draws)
        return Played(regret, {name: policy_gaps(lsa, teacher, draws) for name, lsa in extended.items()})

    def _claims(self, played: Mapping[str, Played]) -> list[Claim]:
        same_size = {n: p for n, p in played.items() if self.scenes[n].extension == "none"}
        home = next(iter(played.values()))
        worst = max(p.gaps["LSA"].max().item() for p in same_size.values())
        rough = {n: p.gaps["rough LSA"].max().item() for n, p in same_size.items()}
        exponent, thompson = growth_exponent(home.regret["teacher"]), growth_exponent(home.regret["Thompson"])
        claims = [
            Claim(
                "ours",
                "the LSA plays the teacher's policy for any reward scale and noise, far past its training",
                worst <= IMITATED,
                f"largest gap {worst:.1e} over {max(self.horizons)} rounds of {len(same_size)} scenes; it is "
                "the same function of the history",
                identity=True,
            ),
            Claim(
                "ours",
                "an LSA trained too briefly is no further off out of distribution than in it",
                max(rough.values()) <= 1.5 * next(iter(rough.values())),
                ", ".join(f"{name} {gap:.2f}" for name, gap in rough.items()) + " (largest gaps)",
            ),
        ]
        for name, p in played.items():
            extension = self.scenes[name].extension
            if extension != "none":
                gap, arms = p.gaps["LSA"].max().item(), self.scenes[name].bandit.num_arms
                final, teachers = (p.regret[player][:, -1].mean() for player in ("LSA", "teacher"))
                claims.append(
                    Claim(
                        "ours",
                        f"it carries to {arms} arms by {extension.replace('_', ' ')}",
                        gap <= IMITATED,
                        f"largest gap {gap:.1e}; final regret {final:.0f} against the teacher's "
                        f"{teachers:.0f}",
                        identity=extension == "permutation_average",
                    )
                )
        return [
            *claims,
            Claim(
                "ours",
                "the imitated policy has linear regret: gamma stays, and logits divided by t stay bounded",
                exponent > 0.9,
                f"it grows as t^{exponent:.2f} (Thompson sampling as t^{thompson:.2f}); "
                f"{home.regret['teacher'][:, -1].mean():.0f} against "
                f"{home.regret['Thompson'][:, -1].mean():.0f} after {max(self.horizons)} rounds",
            ),
        ]


def only_lsa(student: object) -> Lsa:
    """The student, if it is an LSA."""
    if isinstance(student, Lsa):
        return student
    raise ConfigError(
        f"fit must train an LSA here, got one that makes a {type(student).__name__}. "
        "Choose fit=levenberg_marquardt, fit=adam or fit=lbfgs."
    )


def write_regrets(cell: Path, played: Mapping[str, Played], horizons: Sequence[int]) -> None:
    """Write regret.csv: mean and standard error by horizon and player."""
    rows = [
        (scene, player, horizon, at.mean().item(), at.std().item() / len(at) ** 0.5)
        for scene, p in played.items()
        for player, regret in p.regret.items()
        for horizon in horizons
        for at in [regret[:, horizon - 1]]
    ]
    names = ("scene", "player", "round", "mean_regret", "standard_error")
    write_curve(cell / "regret.csv", dict(zip(names, zip(*rows, strict=True), strict=True)))


def plot_regrets(cell: Path, played: Mapping[str, Played]) -> None:
    """Plot regret.{png,pdf}, a panel per scene."""
    num_rows = (len(played) + 2) // 3
    with figure(cell, "regret", num_columns=3, num_rows=num_rows, width=2.6, height=2.3) as panels:
        for axes in panels[len(played) :]:
            axes.remove()
        for axes, (scene, p) in zip(panels, played.items(), strict=False):
            for player, regret in p.regret.items():
                rounds = torch.arange(1, regret.shape[-1] + 1)
                axes.plot(rounds, regret.mean(0).cpu(), label=player, **STYLES[player])
            axes.set(xscale="log", yscale="log", xlabel="round $t$", ylabel="cumulative regret")
            axes.set_title(scene.replace("_", " "), fontsize=8)
        panels[0].legend(fontsize=6.5)
