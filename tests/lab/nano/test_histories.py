"""Histories arise as at test time: one idea a round, tagged by the vote of its pool."""

from itertools import cycle
from random import Random
from statistics import mean

import pytest

from icpo.benchmarks.arithmetic import RULES, Operation
from icpo.lab.nano.examples import draw_source
from icpo.lab.nano.histories import (
    RANDOM_TAG_SHARE,
    Idea,
    Update,
    draw_history,
    majority_answer,
    random_tags,
)
from icpo.lab.nano.mistakes import AssumedMistakes
from icpo.lab.nano.solutions import Line, Solution

UPDATE = Update(step_size=2.0, error_weight=0.25)


def solution(answer):
    return Solution((), answer)


def test_tags_tell_the_majority_of_the_pool():
    answers = cycle([7] * 15 + [8])
    histories = [
        draw_history(lambda: solution(next(answers)), 3, UPDATE, Random(seed)) for seed in range(300)
    ]
    assert {len(history) for history in histories} == {3}
    agree = [idea.reward == (idea.solution.answer == 7) for history in histories for idea in history]
    assert mean(agree) > 0.95


def test_majorities_can_be_wrong_and_then_the_tag_is_wrong():
    rng = Random(0)
    history = [
        i
        for s in range(300)
        for i in draw_history(lambda: solution(rng.choice([1, 2])), 1, UPDATE, Random(s))
    ]
    tagged = [i.solution.answer for i in history if i.reward == 1]
    assert {1, 2} == set(tagged) and 0.5 < mean(i.reward for i in history) < 1


def test_ties_are_broken_by_the_draw():
    assert {majority_answer([solution(1), solution(2)], Random(seed)) for seed in range(20)} == {1, 2}


def test_later_pools_repeat_good_ideas():
    numbers = iter(range(10_000_000))
    same = 0
    for seed in range(200):
        first, *rest = draw_history(lambda: solution(next(numbers)), 3, UPDATE, Random(seed))
        same += first.reward == 1 and any(idea.solution.answer == first.solution.answer for idea in rest)
    assert same > 40, "with ever new answers only a copy can repeat one"


def test_random_tags_are_about_as_frequent_as_those_of_votes():
    rng = Random(1)
    sources = [draw_source(rng, RULES, AssumedMistakes()) for _ in range(1000)]
    histories = [draw_history(source.draw_attempt, 3, UPDATE, rng) for source in sources]
    assert mean(i.reward for h in histories for i in h) == pytest.approx(RANDOM_TAG_SHARE, abs=0.06)


def test_some_histories_hold_losers_alone():
    rng = Random(1)
    histories = [
        draw_history(lambda: solution(rng.choice((1, 1, 2, 3, 4))), 3, UPDATE, Random(seed))
        for seed in range(400)
    ]
    assert mean(not any(i.reward for i in h) for h in histories) > 0.2


def test_losers_come_from_the_first_policy_whatever_the_ideas_before_them_teach():
    """Updates by this one leave no wrong step: with them no second loser would be found."""
    careful = Update(step_size=9.0, error_weight=9.0)
    numbers = iter(range(1, 10_000_000))
    rng = Random(1)

    def attempt():
        is_wrong = rng.random() < 0.4
        line = Line(1, Operation.PLUS, 1, 3 if is_wrong else 2)
        return Solution((line,), next(numbers) if is_wrong else 0)

    histories = [draw_history(attempt, 4, careful, Random(seed)) for seed in range(400)]
    assert mean(not any(i.reward for i in h) for h in histories) > 0.25


def test_winners_after_the_first_come_from_the_updated_policy():
    careful = Update(step_size=9.0, error_weight=9.0)
    rng = Random(1)

    def attempt():
        is_wrong = rng.random() < 0.6
        return Solution((Line(1, Operation.PLUS, 1, 3 if is_wrong else 2),), 1 if is_wrong else 0)

    histories = [draw_history(attempt, 3, careful, Random(seed)) for seed in range(400)]
    by_any = [h for h in histories if h[0].reward == 0 and h[0].solution.answer == 1]
    assert mean(h[2].solution.answer == 0 for h in by_any) > 0.6 > 0.4


def test_random_tags_know_nothing():
    history = tuple(Idea(solution(answer), int(answer == 1)) for answer in (1, 2) * 2000)
    tagged = random_tags(history, RANDOM_TAG_SHARE, Random(0))
    assert [i.solution for i in tagged] == [i.solution for i in history]
    share = {a: mean(i.reward for i in tagged if i.solution.answer == a) for a in (1, 2)}
    assert abs(share[1] - share[2]) < 0.05 and abs(share[1] - RANDOM_TAG_SHARE) < 0.05


def test_an_idea_holds_its_own_summary_and_answer():
    attempt = Idea(solution(12), 1).attempt
    assert (attempt.candidate.answer, attempt.reward, attempt.summary) == ("12", 1, "so boxed{12}")
