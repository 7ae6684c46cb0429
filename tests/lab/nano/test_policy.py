"""The policy forgets carries at its rate, and ideas move it as their tags say."""

from math import exp
from random import Random
from statistics import mean

import pytest

from icpo.benchmarks.arithmetic import RULES, Chain, Operation, Split, Step, draw_problem
from icpo.benchmarks.arithmetic.stories import TRAIN_WORLDS
from icpo.lab.nano.histories import Idea, Update, updated
from icpo.lab.nano.mistakes import num_wrong_steps
from icpo.lab.nano.policy import FLAWLESS, Policy, carries
from icpo.lab.nano.solutions import Line, Solution, right_solution

STILL = Update(step_size=0.0, error_weight=0.0)


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
        assert FLAWLESS.attempt(problem.chain, rng) == right_solution(problem.chain)


def test_carries_are_forgotten_at_the_rate():
    chain = Chain(17, (Step(Operation.PLUS, 25),))
    answers = [Policy(0.2, 0.5, STILL).attempt(chain, Random(seed)).answer for seed in range(4000)]
    assert set(answers) == {42, 32}
    assert mean(a == 32 for a in answers) == pytest.approx(0.2, abs=0.03)


def test_later_steps_forget_more():
    chain = Chain(17, (Step(Operation.PLUS, 25), Step(Operation.DIVIDE, 1), Step(Operation.PLUS, 29)))
    policy = Policy(0.2, 0.5, STILL)
    lines = [policy.attempt(chain, Random(seed)).lines for seed in range(4000)]
    assert mean(x[0].after == 32 for x in lines) == pytest.approx(0.2, abs=0.03)
    assert mean(x[2].after == x[2].before + 19 for x in lines) == pytest.approx(0.4, abs=0.03)
    assert Policy(0.5, 1.0, STILL).error_rate_at(4) == 1.0


def test_tags_move_the_odds_of_their_answers_by_the_step():
    one, two = Solution((), 1), Solution((), 2)
    draws = [one] * 8 + [two] * 8

    def odds(history):
        drawn = updated(draws, history, Update(1.0, 0.25), 40_000, Random(0))
        return mean(w is one for w in drawn) / mean(w is two for w in drawn)

    assert odds([]) == pytest.approx(1.0, rel=0.05)
    assert odds([Idea(one, None)]) == pytest.approx(1.0, rel=0.05)
    assert odds([Idea(two, 0)]) == pytest.approx(exp(1.0), rel=0.05)
    # The idea itself joins the draws: nine to eight before the update.
    assert odds([Idea(one, 1)]) == pytest.approx(9 / 8 * exp(1.0), rel=0.05)
    assert odds([Idea(one, 1), Idea(two, 0)]) == pytest.approx(9 / 8 * exp(2.0), rel=0.05)


def wrong(num_steps, answer):
    """A solution with so many wrong steps."""
    return Solution((Line(1, Operation.PLUS, 1, 3),) * num_steps + (Line(1, Operation.PLUS, 1, 2),), answer)


@pytest.mark.parametrize(
    ("history", "moved"),
    [
        ([Idea(wrong(1, 9), 0)], -1),
        ([Idea(wrong(2, 9), 0)], -2),
        ([Idea(wrong(1, 9), 0), Idea(wrong(2, 8), 0)], -3),
        ([Idea(wrong(2, 9), 1)], 2),
        ([Idea(wrong(0, 9), 0)], 0),
        ([Idea(wrong(0, 9), 1)], 0),
        ([Idea(wrong(2, 9), None)], 0),
        ([Idea(wrong(1, 9), 0), Idea(wrong(1, 8), 1)], 0),
    ],
)
def test_wrong_steps_of_ideas_move_the_odds_of_all_wrong_steps(history, moved):
    """Linear in their number, for the idea and for the attempt, whatever the answers are."""
    draws = [wrong(0, 5)] * 8 + [wrong(1, 6)] * 8 + [wrong(2, 7)] * 8
    drawn = updated(draws, history, Update(0.8, 0.5), 60_000, Random(0))
    none, one, two = (sum(w == d for w in drawn) for d in (draws[0], draws[8], draws[16]))
    assert one / none == pytest.approx(exp(0.8 * 0.5 * moved), rel=0.06)
    assert two / none == pytest.approx(exp(0.8 * 0.5 * moved * 2), rel=0.06)


def test_wrong_steps_are_those_with_a_wrong_result():
    lines = (
        Line(5, Operation.TIMES, 3, 15),
        Line(15, Operation.PLUS, 9, 14),
        Line(14, Operation.DIVIDE, 4, 3),
        Line(3, Operation.MINUS, 9, 0),
        Line(7, Operation.MINUS, 2, 4),
    )
    assert num_wrong_steps(Solution(lines, 4)) == 2
    assert num_wrong_steps(Solution((), 777)) == 0


def test_large_estimates_neither_overflow_nor_vanish():
    draws = [wrong(9, 1), wrong(8, 2)]
    history = [Idea(wrong(9, 3), 0)] * 60
    assert set(updated(draws, history, Update(9.0, 1.0), 50, Random(0))) == {draws[1]}


def test_an_idea_tagged_1_can_be_copied_though_the_policy_never_draws_it():
    chain = Chain(17, (Step(Operation.PLUS, 25),))
    strange = Idea(Solution((), 777), 1)
    policy = Policy(0.0, 0.0, Update(3.0, 0.0))
    answers = [policy.attempt_after(chain, [strange], Random(s)).answer for s in range(1000)]
    assert mean(a == 777 for a in answers) == pytest.approx(exp(3) / (exp(3) + 16), abs=0.05)


def test_mistakes_tagged_0_make_the_solver_careful_on_other_answers_too():
    chain = Chain(57, (Step(Operation.PLUS, 65), Step(Operation.PLUS, 199), Step(Operation.TIMES, 7)))
    right = right_solution(chain).answer
    policy, rng = Policy(0.3, 0.2, Update(2.0, 0.5)), Random(0)
    ideas = [Idea(wrong(1, 111), 0), Idea(wrong(1, 222), 0)]

    def accuracy(history):
        return mean(policy.attempt_after(chain, history, rng).answer == right for _ in range(1000))

    assert accuracy(ideas) > accuracy(ideas[:1]) + 0.1 > accuracy(()) + 0.2


@pytest.mark.parametrize(
    "nonsense",
    [
        lambda: Policy(-0.1, 0.0, STILL),
        lambda: Policy(1.0, 0.0, STILL),
        lambda: Policy(0.1, -1.0, STILL),
        lambda: Update(-1.0, 0.0),
        lambda: Update(1.0, -0.5),
    ],
)
def test_nonsense_is_refused(nonsense):
    with pytest.raises(ValueError, match="got"):
        nonsense()
