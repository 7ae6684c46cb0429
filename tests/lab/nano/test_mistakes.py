"""Simulated attempts go wrong in ways that repeat; the model's own mistakes are carried over faithfully."""

from collections import Counter
from random import Random
from statistics import mean

import pytest

from icpo.benchmarks.arithmetic import LEVELS, Chain, Operation, Step, questions
from icpo.lab.nano.histories import majority_answer
from icpo.lab.nano.mistakes import STEP_CLASSES, AssumedMistakes, SimulatedSolver, slip
from icpo.lab.nano.own_mistakes import OwnMistakes
from icpo.lab.nano.solutions import Line, Solution


def accuracies(mistakes, level, num_attempts=16):
    rows = []
    for i, problem in enumerate(questions("dev", level, 150)):
        rng = Random(i)
        solver = SimulatedSolver(problem.chain, rng, mistakes)
        solutions = [solver.attempt() for _ in range(num_attempts)]
        gold = int(problem.answer)
        rows.append((mean(w.answer == gold for w in solutions), majority_answer(solutions, rng) == gold))
    return mean(a for a, _ in rows), mean(b for _, b in rows)


def test_longer_chains_go_wrong_more_often_and_votes_help():
    scores = {level: accuracies(AssumedMistakes(), level) for level in LEVELS}
    means = [m for m, _ in scores.values()]
    assert means[0] > means[2] > means[4] and 0.6 < means[0] < 1 and means[4] < 0.6
    assert scores["l4"][1] > scores["l4"][0]


def test_wrong_answers_repeat_within_a_problem():
    chain = Chain(251, (Step(Operation.TIMES, 17),))
    repeats = []
    for seed in range(100):
        solver = SimulatedSolver(chain, Random(seed), AssumedMistakes())
        counts = Counter(solver.attempt().answer for _ in range(32))
        del counts[251 * 17]
        repeats += counts.values()
    assert max(repeats) > 10 and mean(repeats) > 2


def test_attempts_carry_their_own_values_on():
    chain = Chain(86, (Step(Operation.TIMES, 16), Step(Operation.PLUS, 40), Step(Operation.DIVIDE, 4)))
    solver = SimulatedSolver(chain, Random(0), AssumedMistakes())
    attempts = [solver.attempt() for _ in range(50)]
    assert any(a.answer != chain.values[-1] for a in attempts)
    for attempt in attempts:
        befores = [line.before for line in attempt.lines]
        assert befores == [86, *(line.after for line in attempt.lines[:-1])]
        assert attempt.answer == attempt.lines[-1].after


@pytest.mark.parametrize("right", [1, 7, 10, 99, 4096])
def test_a_slip_is_another_positive_number(right):
    wrong = {slip(right, Random(seed)) for seed in range(200)}
    assert right not in wrong and min(wrong) > 0
    assert all(str(abs(w - right)).rstrip("0") in {"1", "2", "3", "4", "5"} for w in wrong)


def test_own_mistakes_keep_rates_offsets_and_survive_a_file(tmp_path):
    problem = questions("dev", "l1", 1)[0]
    chain = Chain(50, (Step(Operation.PLUS, 25),))
    problem = type(problem)("p", "text", chain)
    pool = [Solution((Line(50, Operation.PLUS, 25, after),), after) for after in (75,) * 6 + (85,) * 2]
    misread = Solution((Line(50, Operation.MINUS, 25, 25),), 25)
    own = OwnMistakes.of([(problem, pool), (problem, [misread] * 2)])
    assert own.misreading_rate == pytest.approx(0.2)
    assert own.offsets["plus"] == [((0, 10), (0.75, 0.25))] and "minus" not in own.offsets
    values, shares = own.outcomes(Random(0), 100, Step(Operation.PLUS, 11))
    assert (values, shares) == ([111, 121], [0.75, 0.25])
    own.write(tmp_path / "own.json")
    assert OwnMistakes.read(tmp_path / "own.json") == own


def test_own_mistakes_reproduce_the_solver_they_were_read_from():
    pools = []
    for level in LEVELS:
        for i, problem in enumerate(questions("dev", level, 100)):
            solver = SimulatedSolver(problem.chain, Random(i), AssumedMistakes())
            pools.append((problem, [solver.attempt() for _ in range(16)]))
    own = OwnMistakes.of(pools)
    assert set(STEP_CLASSES) <= set(own.offsets)
    for level in ("l1", "l3", "l5"):
        assert accuracies(own, level)[0] == pytest.approx(accuracies(AssumedMistakes(), level)[0], abs=0.1)
