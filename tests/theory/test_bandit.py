import pytest
import torch

from icpo.theory.bandit import Bandit, History, reward, sample_draws, seeded, unit_noise
from tests.theory.build import draws


def test_history_by_hand():
    history = History.empty(torch.zeros(1, 3))
    for arm, r in ((0, 1.0), (2, -2.0), (0, 0.5)):
        history = history.then(torch.tensor([arm]), torch.tensor([r]))
    assert history.t == 3
    assert history.counts_BK.tolist() == [[2, 0, 1]]
    assert history.rewards_BK.tolist() == [[1.5, 0, -2]]
    assert history.squares_B.tolist() == [5.25]
    assert history.features_BF.mul(3).tolist()[0] == pytest.approx([2, 0, 1, 1.5, 0, -2, 1, 5.25])


def test_histories_do_not_change_once_made():
    first = History.empty(torch.zeros(1, 2)).then(torch.tensor([0]), torch.tensor([1.0]))
    first.then(torch.tensor([0]), torch.tensor([1.0]))
    assert first.counts_BK.tolist() == [[1, 0]]


def test_reward_by_hand():
    tasks = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert reward(tasks, torch.tensor([1, 0]), torch.tensor([0.5, -0.5])).tolist() == [2.5, 2.5]


@pytest.mark.parametrize("noise", ["gaussian", "rademacher", "laplace", "student_t"])
def test_noise_has_mean_zero_and_variance_one(noise):
    values = unit_noise(noise, (400_000,), seeded(0, "cpu"))
    assert values.mean().item() == pytest.approx(0, abs=0.01)
    assert values.var().item() == pytest.approx(1, rel=0.2 if noise == "student_t" else 0.02)


def test_noise_kinds_differ_in_their_tails():
    fourth = {
        noise: (unit_noise(noise, (400_000,), seeded(0, "cpu")) ** 4).mean().item()
        for noise in ("rademacher", "gaussian", "laplace", "student_t")
    }
    assert fourth["rademacher"] == pytest.approx(1)
    assert fourth["gaussian"] == pytest.approx(3, rel=0.03)
    assert fourth["laplace"] == pytest.approx(6, rel=0.1)
    assert fourth["student_t"] > 8


def test_unknown_noise_is_refused():
    with pytest.raises(ValueError, match="noise"):
        unit_noise("cauchy", (3,), seeded(0, "cpu"))


def test_draws_have_the_bandits_scales_and_come_back_with_the_seed():
    bandit = Bandit(num_arms=5, tau_w=2.0, sigma=0.25)
    drawn = sample_draws(bandit, 20_000, 3, seeded(1, "cpu"))
    assert drawn.tasks_BK.std().item() == pytest.approx(2, rel=0.02)
    assert drawn.noise_BN.std().item() == pytest.approx(0.25, rel=0.02)
    assert torch.equal(drawn.tasks_BK, sample_draws(bandit, 20_000, 3, seeded(1, "cpu")).tasks_BK)


def test_blocks_are_the_draws_in_order():
    drawn = draws(num_tasks=7)
    blocks = drawn.blocks(3)
    assert [len(block.tasks_BK) for block in blocks] == [3, 3, 1]
    assert torch.equal(torch.cat([block.noise_BN for block in blocks]), drawn.noise_BN)


@pytest.mark.parametrize("arguments", [(1, 1.0, 1.0), (3, -1.0, 1.0), (3, 1.0, -1.0)])
def test_impossible_bandits_are_refused(arguments):
    with pytest.raises(ValueError):
        Bandit(*arguments)


def test_a_bandit_has_no_other_settings():
    with pytest.raises(ValueError, match="nois"):
        Bandit(3, 1.0, 1.0, nois="laplace")
