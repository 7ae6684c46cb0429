import pytest
import torch

from icpo.lab.theory.learners import Exp3, Gains, Policy, Thompson, Ucb, cumulative_regret, growth_exponent
from icpo.theory.bandit import Draws, History, seeded
from tests.theory.build import draws, teacher


class AlwaysBest:
    def begin(self, tasks_BK):
        return tasks_BK.argmax(-1)

    def act(self, memory, uniforms_B):
        return memory

    def learn(self, memory, arms_B, rewards_B):
        return memory


def test_best_arm_has_no_regret():
    assert cumulative_regret(AlwaysBest(), draws()).max() == 0


def test_regret_by_hand():
    one_task = Draws(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.9, 0.1, 0.9]]), torch.zeros(1, 3))

    class Uniform:
        def policy(self, history):
            return torch.full_like(history.counts_BK, 0.5)

    assert cumulative_regret(Policy(Uniform()), one_task).tolist() == [[1, 1, 2]]


def test_ucb_pulls_every_arm_before_any_twice():
    learner, memory = Ucb(sigma=1.0), History.empty(torch.zeros(1, 4))
    for _ in range(4):
        memory = learner.learn(memory, learner.act(memory, torch.zeros(1)), torch.zeros(1))
    assert memory.counts_BK.tolist() == [[1, 1, 1, 1]]


def test_thompson_draws_from_the_posterior():
    """Posterior means 0.8 and 0, variances 0.2 and 1: arm 0 wins with probability Phi(0.8/sqrt(1.2))."""
    n = 100_000
    counts = torch.tensor([[4.0, 0.0]]).expand(n, 2)
    memory = History(4, counts, torch.tensor([[4.0, 0.0]]).expand(n, 2), torch.full((n,), 4.0))
    arms = Thompson(tau_w=1.0, sigma=1.0, generator=seeded(0, "cpu")).act(memory, torch.zeros(n))
    expected = torch.special.ndtr(torch.tensor(0.8 / 1.2**0.5)).item()
    assert (arms == 0).double().mean().item() == pytest.approx(expected, abs=0.005)


def test_exp3_weighs_rewards_by_their_probability():
    learner = Exp3(scale=2.0, gamma=0.1)
    memory = learner.learn(learner.begin(torch.zeros(1, 4)), torch.tensor([2]), torch.tensor([3.0]))
    assert memory.t == 1
    assert memory.gains_BK.tolist() == [[0, 0, pytest.approx(3 / 2 / 0.25), 0]]


def test_exp3_prefers_what_gained_and_keeps_exploring():
    memory = Gains(10, torch.tensor([[0.0, 50.0]]).expand(3, 2))
    arms = Exp3(scale=1.0, gamma=0.2).act(memory, torch.tensor([0.05, 0.15, 0.9]))
    assert arms.tolist() == [0, 1, 1]


def test_classical_learners_beat_the_teacher_over_many_rounds():
    played = draws(num_arms=5, num_tasks=60, num_rounds=400)
    regret = {
        "teacher": cumulative_regret(Policy(teacher(5)), played),
        "thompson": cumulative_regret(Thompson(1.0, 0.5, seeded(0, "cpu")), played),
        "ucb": cumulative_regret(Ucb(0.5), played),
        "exp3": cumulative_regret(Exp3(1.0, 0.05), played),
    }
    final = {name: values[:, -1].mean().item() for name, values in regret.items()}
    assert max(final["thompson"], final["ucb"]) < final["exp3"] < final["teacher"]
    assert growth_exponent(regret["teacher"]) > 0.95
    assert growth_exponent(regret["thompson"]) < 0.5


def test_growth_exponent_of_powers():
    t = torch.arange(1, 1001).double()
    assert growth_exponent((t**0.5).expand(3, -1)) == pytest.approx(0.5)
    assert growth_exponent(t.expand(3, -1)) == pytest.approx(1)
