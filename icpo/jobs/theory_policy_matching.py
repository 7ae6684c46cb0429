"""Policy matching: does a trained LSA play the teacher's policy? Figure 2 (top), Theorem 3.2."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from icpo.jobs.theory_artifacts import BLUE, GREEN, RED, figure, plot_band, write_curve
from icpo.theory.bandit import Bandit, Draws, draw, seeded
from icpo.theory.claims import Claim, verdict
from icpo.theory.fits import ClosedForm, Fit, Fitted
from icpo.theory.lsa import Lsa
from icpo.theory.policies import project
from icpo.theory.rollout import policy_gaps
from icpo.theory.statistics import Statistics, collect
from icpo.theory.teacher import Teacher, TeacherRecipe

CLOSED_FORM_GAP = 1e-12
TRAINED_GAP = 1e-6


@dataclass(frozen=True, slots=True)
class PolicyMatching:
    """Train on B teacher trajectories, then compare policies in the student's closed loop on fresh tasks.

    `fit` trains the student that is drawn; every fit of `compared_fits` is scored by how many of its starts reach a
    final gap of 1e-6. `unrealisable_teacher` has a matrix H with U1 not parallel to 1 and lambda != 0; the fits
    `with_query` and `without_query` try to imitate it with and without the query column among keys and values.
    """

    bandit: Bandit
    teacher: TeacherRecipe
    gamma: float
    step_size: float
    num_rounds: int
    num_train_tasks: int
    num_test_tasks: int
    closed_form: ClosedForm
    fit: Fit
    compared_fits: Mapping[str, Fit]
    unrealisable_teacher: TeacherRecipe
    with_query: Fit
    without_query: Fit
    device: str
    seed: int

    def run(self, cell: Path) -> Mapping[str, object]:
        """Writes gap.csv, starts.csv and gap.{png,pdf}; returns the gaps, the success over starts and the claims."""
        generator = seeded(self.seed, self.device)
        test = draw(self.bandit, self.num_test_tasks, self.num_rounds, generator)
        teacher, statistics = self._train_data(self.teacher, generator)
        closed = self._closed_loop(self.closed_form.fit(statistics, self.gamma, generator), teacher, test)[0]
        fitted = self.fit.fit(statistics, self.gamma, generator)
        trained = self._closed_loop(fitted, teacher, test)
        success = {
            name: self._success(self._closed_loop(fit.fit(statistics, self.gamma, generator), teacher, test))
            for name, fit in self.compared_fits.items()
        }
        hard, hard_statistics = self._train_data(self.unrealisable_teacher, generator)
        hard_closed, attending, asking = (
            self._closed_loop(fit.fit(hard_statistics, self.gamma, generator), hard, test)
            for fit in (self.closed_form, self.with_query, self.without_query)
        )
        self._write(cell, closed, trained, success, attending, asking)
        claims = self._claims(closed, trained, hard_closed, attending, asking)
        return {
            "closed_form_max_gap": closed.max().item(),
            "trained_final_gap": trained[..., -1].mean(-1).max().item(),
            "trained_median_final_gap": trained[..., -1].mean(-1).median().item(),
            "moment_rank": _rank(statistics),
            "max_projected_w12": max(_projected_w12(s) for s in fitted.students if isinstance(s, Lsa)) if any(
                isinstance(s, Lsa) for s in fitted.students) else None,
            "success_over_starts": success,
            "unrealisable_best_mean_gap": _best(attending),
            "unrealisable_best_max_gap": attending.amax((-2, -1)).min().item(),
            "repaired_worst_max_gap": asking.max().item(),
            "claims": [claim.as_json() for claim in claims],
            "verdict": verdict([claim for claim in claims if claim.source != "ours"]),
        }
