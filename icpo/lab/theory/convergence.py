"""Convergence of the loss along the gradient flow (paper, appendix)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from pydantic import NonNegativeFloat, PositiveInt
from torch import Tensor

from icpo.lab.theory.artifacts import BLUE, GREY, ORANGE, RED, figure, write_curve
from icpo.lab.theory.claims import Claim, judge
from icpo.lab.theory.moments import moment_claims, write_moments
from icpo.lab.theory.ranges import AtLeastTwo
from icpo.lab.theory.second_moment import MomentBounds, moment_bounds, moments_by_round
from icpo.theory.bandit import Bandit, sample_draws, seeded
from icpo.theory.flow import Flow, smallest_moment_off_s, smallest_moment_on_s
from icpo.theory.statistics import collect
from icpo.theory.teacher import Teacher, TeacherRecipe
from icpo.types.validated import validated

THEOREM = "Theorem (exponential convergence)"


@dataclass(frozen=True, slots=True)
class Scene:
    """A bandit and a teacher on it."""

    bandit: Bandit
    recipe: TeacherRecipe
    gamma: float
    step_size: float

    def teacher(self, device: str) -> Teacher:
        """The teacher at this scene's size."""
        return self.recipe.build(self.bandit.num_arms, self.step_size, self.gamma, device)


@dataclass(frozen=True, slots=True)
class Decay:
    """Excess losses along the exact flow, as shares, (S, I).

    And the two rates mu. Start 0 is the slowest mode of the whole space R^{2K}, start 1 that of S = 1-perp +
    1-perp, the rest are normal.
    """

    times_I: Tensor
    shares_SI: Tensor
    mu_on_s: float
    mu_everywhere: float

    @classmethod
    def of(cls, flow: Flow, num_starts: int, horizon: float, num_records: int, seed: int) -> "Decay":
        """The decay from normal and slow starts, for `horizon` / mu."""
        generator = seeded(seed, str(flow.target_KZ.device))
        shape, device = (num_starts, *flow.target_KZ.shape), generator.device
        normal = torch.randn(shape, generator=generator, device=device, dtype=torch.float64)
        starts = torch.cat([flow.slowest_starts(), flow.target_KZ + normal])
        times = torch.linspace(0, horizon / flow.rate, num_records + 1, dtype=torch.float64, device=device)
        losses = flow.losses(starts, times)
        return cls(times, losses / losses[:, :1], flow.rate_on_s, flow.rate)

    def excess(self, mu: float) -> Tensor:
        """The largest ratio of a loss to exp(-2 mu t), (S,)."""
        return (self.shares_SI / (-2 * mu * self.times_I).exp()).amax(-1)

    def violations(self, mu: float) -> int:
        """How many starts exceed exp(-2 mu t) by more than rounding."""
        return int((self.excess(mu) > 1 + 1e-9).sum())

    def final_rates(self) -> Tensor:
        """Half the rate at which each normal start's log loss falls at the end, in units of mu, (S-2,)."""
        fall = self.shares_SI[2:, -2].log() - self.shares_SI[2:, -1].log()
        return fall / (self.times_I[-1] - self.times_I[-2]) / (2 * self.mu_everywhere)


@validated
class Convergence:
    """Follow the flow, and measure the lemma of its rate.

    `scene` is the paper's setting, with H = I; `contrast` one where the smallest eigenvalue on
    S = 1-perp + 1-perp is clearly not the smallest of all. Both are measured on `num_tasks` tasks, and
    `scene` on `num_samples` samples of `num_train_tasks` too. `covered_sigma` is a noise small enough for
    Assumption 1, `heavy_penalty` a lambda that balances the arms' counts; both are tried in `scene`.
    """

    scene: Scene
    contrast: Scene
    num_rounds: AtLeastTwo
    num_tasks: PositiveInt
    num_train_tasks: PositiveInt
    num_samples: PositiveInt
    num_starts: PositiveInt
    horizon: NonNegativeFloat
    num_records: PositiveInt
    covered_sigma: NonNegativeFloat
    heavy_penalty: float
    device: str
    seed: int

    def run(self, cell: Path) -> Mapping[str, object]:
        """Writes loss*.csv, moments.csv and convergence.{png,pdf}; returns rates, violations and claims."""
        generator = seeded(self.seed, self.device)
        flow = self._flow(self.scene, self.num_tasks, generator)
        exchangeable = flow.averaged_over_arms()
        large, population = self._decay(flow), self._decay(exchangeable)
        contrast = self._decay(self._flow(self.contrast, self.num_tasks, generator))
        small = [
            self._decay(self._flow(self.scene, self.num_train_tasks, generator))
            for _ in range(self.num_samples)
        ]
        penalty = self.scene.recipe.penalty
        here = self._bounds(self.scene.bandit.sigma, penalty, generator)
        covered = self._bounds(self.covered_sigma, penalty, generator)
        silent = self._bounds(0.0, penalty, generator)
        heavy = self._bounds(self.covered_sigma, self.heavy_penalty, generator)
        share = self.scene.gamma / self.scene.bandit.num_arms
        floor = share * covered.total_floor.mean().item()
        decays = {"population": population, "large_sample": large, "contrast": contrast}
        claims = [
            *self._rate_claims(decays, small),
            floor_claim(population, floor),
            *moment_claims(covered, silent, heavy, self.heavy_penalty),
        ]
        write_losses(cell / "loss.csv", population)
        write_losses(cell / "loss_contrast.csv", contrast)
        write_moments(cell, {"paper": here, "covered": covered, "no_noise": silent, "heavy_penalty": heavy})
        plot_convergence(cell, population, contrast, covered, silent)
        return {
            "mu_theorem_floor": share * here.total_floor.mean().item(),
            "mu_theorem_floor_covered": floor,
            "smallest_moment_on_s": smallest_moment_on_s(exchangeable.second_moment_ZZ),
            "smallest_moment_off_s": smallest_moment_off_s(exchangeable.second_moment_ZZ),
            "mu_on_s": population.mu_on_s,
            "mu_everywhere": population.mu_everywhere,
            "mu_on_s_contrast": contrast.mu_on_s,
            "mu_everywhere_contrast": contrast.mu_everywhere,
            "violating_starts": {name: decay.violations(decay.mu_on_s) for name, decay in decays.items()},
            "largest_excess": {name: largest_excess(decay) for name, decay in decays.items()},
            "largest_excess_small_samples": [largest_excess(decay) for decay in small],
            "starts": len(population.shares_SI),
            **judge(claims, {THEOREM}),
        }

    def _flow(self, scene: Scene, num_tasks: int, generator: torch.Generator) -> Flow:
        draws = sample_draws(scene.bandit, num_tasks, self.num_rounds, generator)
        return Flow.of_sample(collect(scene.teacher(self.device), draws))

    def _decay(self, flow: Flow) -> Decay:
        return Decay.of(flow, self.num_starts, self.horizon, self.num_records, self.seed)

    def _bounds(self, sigma: float, penalty: float, generator: torch.Generator) -> MomentBounds:
        scene = replace(
            self.scene,
            bandit=replace(self.scene.bandit, sigma=sigma),
            recipe=replace(self.scene.recipe, penalty=penalty),
        )
        draws = sample_draws(scene.bandit, self.num_tasks, self.num_rounds, generator)
        teacher = scene.teacher(self.device)
        return moment_bounds(teacher, scene.bandit, moments_by_round(teacher, draws))

    def _rate_claims(self, decays: Mapping[str, Decay], small: Sequence[Decay]) -> list[Claim]:
        """What the losses say of the theorem's rate: of the population, of samples, and of a general H."""
        population, large, contrast = decays["population"], decays["large_sample"], decays["contrast"]
        starts, excesses = len(population.shares_SI), torch.tensor([largest_excess(d) for d in small])
        above = sum(d.violations(d.mu_on_s) > 0 for d in small)
        ends = torch.stack([population.final_rates(), contrast.final_rates()])
        beyond = int((contrast.final_rates() * contrast.mu_everywhere < contrast.mu_on_s).sum())
        return [
            Claim(
                THEOREM,
                "H = I: L(W(t)) <= exp(-2 mu t) L(W(0)) with mu from S = 1-perp + 1-perp",
                population.violations(population.mu_on_s) == 0,
                f"{population.violations(population.mu_on_s)} of {starts} starts above, Gamma and Sigma of "
                f"{self.num_tasks} tasks averaged over the orders of the arms, which the population's are",
            ),
            Claim(
                THEOREM,
                "general H: the same",
                contrast.violations(contrast.mu_on_s) == 0,
                f"{contrast.violations(contrast.mu_on_s)} of {starts} starts above, by a factor of up to "
                f"{largest_excess(contrast):.1f}; mu on S is {contrast.mu_on_s / contrast.mu_everywhere:.2f} "
                "times the slowest rate",
            ),
            Claim(
                "ours",
                "H = I: the empirical loss of a sample obeys it too, with its own mu",
                above == 0 == large.violations(large.mu_on_s),
                f"{self.num_tasks} tasks: {large.violations(large.mu_on_s)} of {starts} starts above, factor "
                f"{largest_excess(large):.4f}; {self.num_train_tasks} tasks: in {above} of {len(small)} "
                f"samples, factor {excesses.median():.2f} (median), {excesses.min():.2f} to "
                f"{excesses.max():.2f}",
            ),
            Claim(
                "ours",
                "with mu over all of R^{2K} the bound holds for every H",
                all(d.violations(d.mu_everywhere) == 0 for d in (*decays.values(), *small)),
                f"0 of {starts} starts above in any flow",
                identity=True,
            ),
            Claim(
                "ours",
                f"normal starts end at that mu: at {self.horizon:g}/mu the median rate is within 5% of it",
                bool((ends.median(-1).values <= 1.05).all()),
                f"median {ends[0].median():.3f} mu (H = I) and {ends[1].median():.3f} mu (general H), where "
                f"{beyond} of {len(ends[1])} end slower than mu on S",
            ),
        ]


def largest_excess(decay: Decay) -> float:
    """The largest ratio of a loss to the theorem's bound."""
    return decay.excess(decay.mu_on_s).max().item()


def floor_claim(decay: Decay, floor: float) -> Claim:
    """`floor` is gamma/K times the lemma's bound under Assumption 1."""
    return Claim(
        THEOREM,
        "mu >= gamma/K times the lemma's floor, under Assumption 1",
        decay.mu_on_s >= floor > 0,
        f"floor {floor:.1e}, measured {decay.mu_on_s:.1e}",
    )


def write_losses(path: Path, decay: Decay) -> None:
    """Write losses of all starts over time, and both bounds."""
    write_curve(
        path,
        {
            "time": decay.times_I,
            "slowest_start": decay.shares_SI[0],
            "slowest_start_in_S": decay.shares_SI[1],
            "normal_starts_mean": decay.shares_SI[2:].mean(0),
            "normal_starts_max": decay.shares_SI[2:].amax(0),
            "bound_mu_on_S": (-2 * decay.mu_on_s * decay.times_I).exp(),
            "bound_mu_everywhere": (-2 * decay.mu_everywhere * decay.times_I).exp(),
        },
    )


def plot_convergence(
    cell: Path, decay: Decay, contrast: Decay, covered: MomentBounds, silent: MomentBounds
) -> None:
    """convergence.{png,pdf}: losses against both exponentials, and the second moment against its lemma."""
    t = torch.arange(1, len(covered.count_measured) + 1)
    with figure(cell, "convergence", num_columns=3, width=3.1) as (paper, other, moment):
        for axes, shown, title in (
            (paper, decay, "Flow, paper's setting"),
            (other, contrast, "Flow, contrast"),
        ):
            times, shares = shown.times_I.cpu(), shown.shares_SI.cpu()
            axes.plot(times, shares[2:].mean(0), color=BLUE, label="normal starts")
            axes.plot(times, shares[0], color=RED, label="slowest start")
            axes.plot(
                times,
                (-2 * shown.mu_on_s * times).exp(),
                "--",
                color=ORANGE,
                label=r"$e^{-2\mu t}$, $\mu$ on $S$",
            )
            axes.plot(
                times,
                (-2 * shown.mu_everywhere * times).exp(),
                ":",
                color="black",
                label=r"$\mu$ on $R^{2K}$",
            )
            axes.set(yscale="log", xlabel="flow time", ylabel="loss / initial loss", title=title)
            axes.legend(fontsize=6.5)
        moment.plot(t, covered.total_measured.cpu(), color=BLUE, label=r"$\lambda_{\min}(\Sigma_t|_S)$")
        moment.plot(t, covered.total_floor.cpu(), "--", color=GREY, label="its claimed floor")
        moment.plot(
            t[1:],
            silent.cross_measured[1:].cpu(),
            color=RED,
            label=r"$\|\Sigma_{ng}\|$ without noise (claimed 0)",
        )
        moment.set(yscale="log", xscale="log", xlabel="round $t$", title="Second moment", ylim=(1e-4, 1))
        moment.legend(fontsize=6.5)
