import pytest
import torch

from icpo.theory.bandit import History
from icpo.theory.policies import project, softmax
from icpo.theory.rollout import policy_gaps, rollout
from icpo.theory.teacher import Teacher, TeacherRecipe
from tests.theory.build import draws, teacher


def test_logits_by_hand():
    U = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    history = History(4, torch.tensor([[3.0, 1.0]]), torch.tensor([[1.0, -1.0]]), torch.tensor([2.0]))
    by_hand = Teacher(0.5, 0.2, U, -0.5 * U).logits(history)
    assert by_hand.tolist() == [[0.125 * (2 - 3), 0.125 * (-1 - 0.5)]]


def test_logits_before_any_round_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        teacher(3).logits(History.empty(torch.zeros(1, 3)))


def test_first_policy_is_uniform_and_later_ones_mix_gamma():
    trajectories = rollout(teacher(3, gamma=0.3), draws(num_arms=3))
    assert trajectories.policies[0].unique().tolist() == pytest.approx([1 / 3])
    logits = teacher(3, gamma=0.3).logits(trajectories.histories[2])
    torch.testing.assert_close(trajectories.policies[2], 0.7 * softmax(logits) + 0.1)


def test_operator_gives_the_projected_logits():
    expert = teacher(4, "random_spd")
    history = rollout(expert, draws()).histories[5]
    torch.testing.assert_close(
        history.features_BF[:, :8] @ expert.operator_KZ.T, project(expert.logits(history))
    )


def test_recipe_inverts_its_metric():
    recipe = TeacherRecipe("random_spd", penalty=0.5, condition_number=9, metric_seed=3)
    H, built = recipe.H(5), recipe.build(5, 1.0, 0.2, "cpu")
    eigenvalues = torch.linalg.eigvalsh(H)
    assert (eigenvalues[-1] / eigenvalues[0]).item() == pytest.approx(9)
    torch.testing.assert_close(built.U @ H, torch.eye(5))
    torch.testing.assert_close(built.V, -0.5 * built.U)


@pytest.mark.parametrize("metric", ["identity", "random_spd"])
def test_scale_multiplies_the_metric(metric):
    single, double = TeacherRecipe(metric, 0.5, 4.0), TeacherRecipe(metric, 0.5, 4.0, scale=2.0)
    torch.testing.assert_close(double.H(4), 2 * single.H(4))


@pytest.mark.parametrize(
    "arguments", [("diagonal", 0.0), ("identity", 0.0, 0.5), ("identity", 0.0, 1, 0, 0.0)]
)
def test_impossible_recipes_are_refused(arguments):
    with pytest.raises(ValueError):
        TeacherRecipe(*arguments)


def test_rollout_keeps_every_round():
    trajectories = rollout(teacher(4), draws(num_rounds=6))
    assert len(trajectories.histories) == 7
    assert len(trajectories.policies) == 6
    assert trajectories.histories[-1].counts_BK.sum(-1).unique().tolist() == [6]


def test_gap_of_the_teacher_to_itself_is_zero_and_to_another_is_not():
    own = policy_gaps(teacher(4), teacher(4), draws())
    other = policy_gaps(teacher(4, step_size=2.0), teacher(4), draws())
    assert own.shape == (20, 8)
    assert own.max() == 0
    assert other.min() > 1e-6
