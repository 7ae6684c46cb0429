import pytest
import torch

from icpo.lab.theory.padding import permutation_averaged, zero_padded
from icpo.theory.bandit import seeded
from icpo.theory.fits import LevenbergMarquardt, Start
from icpo.theory.rollout import policy_gaps
from icpo.theory.statistics import collect
from tests.theory.build import draws, teacher

FIT = LevenbergMarquardt(Start("near_query", 0.01, 1), attends_query=True, num_steps=25, damping=0.1)


@pytest.fixture(scope="module")
def trained():
    [lsa] = FIT.fit(collect(teacher(4), draws(num_tasks=60)), 0.2, seeded(0, "cpu")).students
    return lsa


def test_permutation_average_plays_the_larger_teacher(trained):
    assert policy_gaps(permutation_averaged(trained, 9), teacher(9), draws(num_arms=9)).max() < 1e-10


def test_permutation_average_at_the_trained_size_changes_no_policy(trained):
    assert policy_gaps(permutation_averaged(trained, 4), trained, draws()).max() < 1e-10


def test_zero_padding_leaves_the_trained_arms_alone_and_strays_on_the_new(trained):
    padded = zero_padded(trained, 9)
    assert torch.equal(padded.W_PV[:4, :4], trained.W_PV[:4, :4])
    assert torch.equal(padded.W_KQ[-1, :4], trained.W_KQ[-1, :4])
    assert padded.W_PV[4:9].abs().max() == 0
    assert policy_gaps(padded, teacher(9), draws(num_arms=9)).max() > 1e-3


def test_padding_to_fewer_arms_is_refused(trained):
    with pytest.raises(ValueError, match="padded"):
        zero_padded(trained, 3)
