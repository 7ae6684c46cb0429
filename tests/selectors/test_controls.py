"""Selection without entropy."""

import pytest

from icpo.selectors import KeepAll, RandomPick
from icpo.types import Attempt, Candidate
from tests.methods.hand import boxed, play


def attempts(*rewards):
    [completion] = boxed("4")
    return [Attempt(Candidate(completion, "4"), reward, "") for reward in rewards]


def kept(selector, given, seed=0):
    selection, requests = play(selector.select(given, None, num_lookaheads=4, seed=seed), None)
    assert not requests and not selection.lookaheads
    return selection.kept


def test_all_attempts_are_kept_in_order():
    assert kept(KeepAll("none"), attempts(0, 1, 0)) == (0, 1, 2)


@pytest.mark.parametrize(
    ("rewarded_only", "rewards", "possible"),
    [
        (False, (0, 1, 0, 1), {0, 1, 2, 3}),
        (True, (0, 1, 0, 1), {1, 3}),
        (True, (0, 0), {0, 1}),
        (True, (None, None), {0, 1}),
    ],
)
def test_one_attempt_is_picked_by_the_seed(rewarded_only, rewards, possible):
    pick = RandomPick("random", rewarded_only)
    found = {kept(pick, attempts(*rewards), seed) for seed in range(40)}
    assert found == {(i,) for i in possible}
    assert kept(pick, attempts(*rewards), 7) == kept(pick, attempts(*rewards), 7)


def test_of_no_attempts_none_is_kept():
    assert kept(RandomPick("random", False), []) == ()
