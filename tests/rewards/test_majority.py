"""The majority's reward."""

from icpo.rewards import Majority
from icpo.types import Candidate
from tests.methods.hand import QUESTION, boxed, read, tally

MAJORITY = Majority("majority", True)


def rewards(*answers, seed=0):
    candidates = tuple(Candidate(c, read(c.text, QUESTION.kind)) for c in boxed(*answers))
    return MAJORITY.rewards(QUESTION, candidates, tally(answers, QUESTION.kind), seed=seed)


def test_the_most_frequent_answer_is_rewarded():
    given = rewards("5", "4", None, "4")
    assert (given.tags, given.winner, given.num_tied) == ((0, 1, 0, 1), "4", 1)


def test_a_tie_is_broken_by_the_seed_and_its_size_is_told():
    sampled = [rewards("4", "5", "6", "5", "4", seed=seed) for seed in range(60)]
    assert {given.num_tied for given in sampled} == {2}
    winners = [given.winner for given in sampled]
    assert 15 < winners.count("4") < 45 and winners.count("4") + winners.count("5") == 60
    for given in sampled:
        assert given.tags == ((1, 0, 0, 0, 1) if given.winner == "4" else (0, 1, 0, 1, 0))
    assert rewards("4", "5", seed=7) == rewards("4", "5", seed=7)


def test_nobody_is_rewarded_when_nobody_answers():
    given = rewards(None, None)
    assert (given.tags, given.winner, given.num_tied) == ((0, 0), None, 0)
