"""Rewards that are wrong on purpose."""

import pytest

from icpo.lab.controls import Constant, Inverted, Shuffled
from icpo.rewards import Majority, NoReward, Oracle
from icpo.types import Candidate
from tests.methods.hand import QUESTION, boxed, read, tally

ANSWERS = ("4", "4", "4", "5", None)
CANDIDATES = tuple(Candidate(c, read(c.text, QUESTION.kind)) for c in boxed(*ANSWERS))
VOTES = tally(ANSWERS, QUESTION.kind)
MAJORITY = Majority("majority", True)


def tags(reward, seed=0):
    return reward.rewards(QUESTION, CANDIDATES, VOTES, seed=seed).tags


def test_shuffled_deals_the_majoritys_tags_anew_by_seed():
    shuffled = Shuffled("shuffled", True, MAJORITY)
    dealt = {tags(shuffled, seed) for seed in range(40)}
    assert all(sum(one) == 3 and len(one) == 5 for one in dealt)
    assert len(dealt) == 4, "one for each place of the 0 among the four who answered"
    assert {one[4] for one in dealt} == {0}, "who abstains is never shown and takes no 1 from the others"
    assert tags(shuffled, 7) == tags(shuffled, 7)


def test_inverted_exchanges_0_and_1():
    assert tags(MAJORITY) == (1, 1, 1, 0, 0)
    assert tags(Inverted("inverted", True, MAJORITY)) == (0, 0, 0, 1, 1)


def test_no_tag_inverted_is_no_tag():
    nothing = NoReward("none", False)
    assert tags(nothing) == tags(Inverted("inverted", True, nothing)) == (None,) * 5


def test_the_oracle_rewards_right_answers_and_never_an_abstention():
    oracle = Oracle("oracle", True, lambda question, answer: answer == "5")
    assert tags(oracle) == (0, 0, 0, 1, 0)


def test_constant_tags_all_alike():
    assert tags(Constant("constant", True, 1)) == (1,) * 5
    with pytest.raises(ValueError, match="0 or 1"):
        Constant("constant", True, 2)
