import pytest
import torch

from icpo.theory.bandit import seeded
from icpo.theory.fits import Adam, ClosedForm, GradientFlow, Lbfgs, LevenbergMarquardt, Start
from icpo.theory.lsa import Lsa
from icpo.theory.rollout import policy_gaps
from icpo.theory.statistics import collect
from tests.theory.build import draws, teacher

NEAR = Start("near_query", 0.01, 3)


def largest_gaps(fit, expert, seed=0):
    fitted = fit.fit(collect(expert, draws(num_tasks=60)), expert.gamma, seeded(seed, "cpu"))
    test = draws(num_tasks=10, num_rounds=20, seed=9)
    return fitted, torch.stack([policy_gaps(student, expert, test).max() for student in fitted.students])


@pytest.mark.parametrize("metric", ["identity", "random_spd"])
def test_closed_form_plays_the_teacher_beyond_the_training_length(metric):
    fitted, gaps = largest_gaps(ClosedForm(1e-10), teacher(4, metric))
    assert gaps.max() < 1e-12
    assert fitted.losses_S.tolist() == pytest.approx([0], abs=1e-20)


@pytest.mark.parametrize(
    ("fit", "tolerance"),
    [
        (LevenbergMarquardt(NEAR, attends_query=True, num_steps=25, damping=0.1), 1e-12),
        (Lbfgs(NEAR, attends_query=True, num_steps=200), 1e-6),
        (Adam(NEAR, attends_query=True, num_steps=2500, learning_rate=0.02), 1e-6),
    ],
)
def test_an_lsa_learns_its_own_matrices_from_every_near_start(fit, tolerance):
    fitted, gaps = largest_gaps(fit, teacher(4))
    assert len(fitted.students) == 3
    assert all(isinstance(student, Lsa) for student in fitted.students)
    assert gaps.max() < tolerance


def test_flow_reaches_the_teacher_in_time_and_not_before():
    _, early = largest_gaps(GradientFlow(time=1.0, num_starts=2, start_scale=1.0), teacher(4))
    _, late = largest_gaps(GradientFlow(time=1e5, num_starts=2, start_scale=1.0), teacher(4))
    assert early.min() > 1e-3
    assert late.max() < 1e-10


def test_the_query_as_key_keeps_a_general_teacher_out_of_reach_and_leaving_it_out_repairs_that():
    expert = teacher(4, "random_spd")
    _, attending = largest_gaps(LevenbergMarquardt(NEAR, True, 60, 0.1), expert)
    _, asking = largest_gaps(LevenbergMarquardt(NEAR, False, 60, 0.1), expert)
    assert attending.min() > 1e-3
    assert asking.max() < 1e-10


def test_without_penalty_a_general_teacher_is_within_reach():
    _, gaps = largest_gaps(LevenbergMarquardt(NEAR, True, 60, 0.1), teacher(4, "random_spd", penalty=0.0))
    assert gaps.max() < 1e-10


def test_projected_w12_vanishes_in_training():
    fitted, _ = largest_gaps(LevenbergMarquardt(NEAR, True, 25, 0.1), teacher(4))
    for student in fitted.students:
        column = student.W_PV[:4, 4]
        assert (column - column.mean()).abs().max() < 1e-12


def test_near_query_starts_have_their_image_of_the_query_at_the_reward():
    W_KQ = Start("near_query", 0.0, 1).draw(4, seeded(0, "cpu")).reshape(2, 5, 5)[1]
    assert W_KQ[:, :4].sum(1).tolist() == [0, 0, 0, 0, 1]


def test_a_start_at_zero_trains_nothing():
    fit = Adam(Start("unstructured", 0.0, 1), True, 10, 0.1)
    fitted, _ = largest_gaps(fit, teacher(4))
    assert fitted.students[0].W_PV.abs().max() == 0
