"""The policy forgets carries at its rate, and ideas move it as their tags say."""

from math import exp
from random import Random
from statistics import mean

import pytest

from icpo.arithmetic import RULES, Chain, Operation, Split, Step, draw_problem
from icpo.arithmetic.stories import TRAIN_WORLDS
from icpo.nano.histories import Idea, updated
from icpo.nano.policy import Policy, carries
from icpo.nano.workings import Working, right_working


@pytest.mark.parametrize(
    ("value", "operation", "operand", "expected"),
    [
        (17, Operation.PLUS, 25, [-10]),
        (11, Operation.PLUS, 25, []),
        (977, Operation.PLUS, 184, [-10, -100]),  # without the third, 1161 would have three digits
        (52, Operation.MINUS, 17, [10]),
        (503, Operation.MINUS, 117, [10, 100]),
        (503, Operation.MINUS, 102, []),
        (213, Operation.TIMES, 3, []),
        (214, Operation.TIMES, 3, [-10]),
        (25, Operation.TIMES, 15, [-10, -100]),
        (84, Operation.DIVIDE, 7, []),
    ],
)
def test_carries_are_those_of_sums_on_paper(value, operation, operand, expected):
    assert carries(value, Step(operation, operand)) == expected


def test_a_policy_without_lapses_is_right():
    rng = Random(0)
    for i in range(200):
        problem = draw_problem(rng, 1 + i % 5, Split.TRAIN, RULES, TRAIN_WORLDS)
        assert Policy(0.0, 2.0).attempt(problem.chain, rng) == right_working(problem.chain)


def test_carries_are_forgotten_at_the_rate():
    chain = Chain(17, (Step(Operation.PLUS, 25),))
    answers = [Policy(0.2, 0.0).attempt(chain, Random(seed)).answer for seed in range(4000)]
    assert set(answers) == {42, 32}
    assert mean(a == 32 for a in answers) == pytest.approx(0.2, abs=0.03)


def test_tags_move_the_odds_of_their_answers_by_the_step():
    one, two = Working((), 1), Working((), 2)
    draws = [one] * 8 + [two] * 8

    def odds(history):
        drawn = updated(draws, history, 1.0, 40_000, Random(0))
        return mean(w is one for w in drawn) / mean(w is two for w in drawn)

    assert odds([]) == pytest.approx(1.0, rel=0.05)
    assert odds([Idea(one, None)]) == pytest.approx(1.0, rel=0.05)
    assert odds([Idea(two, 0)]) == pytest.approx(exp(1.0), rel=0.05)
    # The idea itself joins the draws: nine to eight before the update.
    assert odds([Idea(one, 1)]) == pytest.approx(9 / 8 * exp(1.0), rel=0.05)
    assert odds([Idea(one, 1), Idea(two, 0)]) == pytest.approx(9 / 8 * exp(2.0), rel=0.05)


def test_an_idea_tagged_1_can_be_copied_though_the_policy_never_draws_it():
    chain = Chain(17, (Step(Operation.PLUS, 25),))
    strange = Idea(Working((), 777), 1)
    answers = [Policy(0.0, 3.0).attempt_after(chain, [strange], Random(s)).answer for s in range(1000)]
    assert mean(a == 777 for a in answers) == pytest.approx(exp(3) / (exp(3) + 16), abs=0.05)


@pytest.mark.parametrize(("rate", "step"), [(-0.1, 1.0), (1.0, 1.0), (0.1, -1.0)])
def test_nonsense_is_refused(rate, step):
    with pytest.raises(ValueError, match="got"):
        Policy(rate, step)
