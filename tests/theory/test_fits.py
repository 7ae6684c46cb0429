import pytest
import torch

from icpo.theory.bandit import seeded
from icpo.theory.fits import Adam, ClosedForm, Lbfgs, LevenbergMarquardt, Start, fitted_lsas
from icpo.theory.lsa import Lsa
from icpo.theory.objectives import fisher_loss, imitation_kl
from icpo.theory.policies import kl_nats
from icpo.theory.rollout import policy_gaps, rollout
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


@pytest.mark.parametrize("fit", [Adam(NEAR, True, 2500, 0.02), Lbfgs(NEAR, True, 300)])
def test_an_lsa_learns_from_the_kl_too(fit):
    expert = teacher(4)
    loss = imitation_kl(expert, draws(num_tasks=60), fit.attends_query)
    theta = fit.minimise(loss, fit.start.sample(4, seeded(0, "cpu")))
    test = draws(num_tasks=10, num_rounds=20, seed=9)
    students = fitted_lsas(theta, loss, expert.gamma, fit.attends_query).students
    assert max(policy_gaps(student, expert, test).max() for student in students) < 1e-5


def test_the_kl_is_that_of_the_policies():
    expert, drawn = teacher(4), draws(num_tasks=3, num_rounds=5)
    theta = Start("unstructured", 0.3, 2).sample(4, seeded(0, "cpu"))
    loss = imitation_kl(expert, drawn, attends_query=True)
    students = fitted_lsas(theta, fisher_loss(collect(expert, drawn), True), expert.gamma, True).students
    histories = rollout(expert, drawn).histories[1:-1]
    by_hand = [
        torch.stack([kl_nats(expert.policy(h), student.policy(h)) for h in histories]).mean()
        for student in students
    ]
    torch.testing.assert_close(loss(theta), torch.stack(by_hand))


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
    W_KQ = Start("near_query", 0.0, 1).sample(4, seeded(0, "cpu")).reshape(2, 5, 5)[1]
    assert W_KQ[:, :4].sum(1).tolist() == [0, 0, 0, 0, 1]


def test_a_start_at_zero_trains_nothing():
    fit = Adam(Start("unstructured", 0.0, 1), True, 10, 0.1)
    fitted, _ = largest_gaps(fit, teacher(4))
    assert fitted.students[0].W_PV.abs().max() == 0
