"""Exam, gate and ME-ICPO measure what they say, with a sampler or an engine that answers by rule."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest

from icpo.benchmarks.arithmetic import LEVELS, questions
from icpo.lab.nano.acceptance import Context, acceptance_scores
from icpo.lab.nano.evaluation import evaluate
from icpo.lab.nano.exam import direct_exam, majority_score, reading_exam
from icpo.lab.nano.histories import Update
from icpo.lab.nano.mistakes import AssumedMistakes, SimulatedSolver
from icpo.lab.nano.sampling import Sampler
from icpo.lab.nano.solutions import read_solution, right_solution
from icpo.prompts import paper
from icpo.types import Budget
from tests.methods.hand import Answering, said


@cache
def problems():
    return {p.text: p for level in LEVELS for p in questions("dev", level)}


@dataclass(frozen=True)
class RuleSampler:
    """Solves by a rule of the prompt; summarises faithfully; finds every answer right."""

    solve: Callable[..., str]
    temperature: float = 0.6

    def sample(self, prompts, num_samples, *, seed):
        rng = Random(seed)
        return [[self.answer(prompt, rng) for _ in range(num_samples)] for prompt in prompts]

    def answer(self, prompt, rng):
        if prompt.endswith("Is it right?"):
            return "yes"
        if prompt.endswith("Summary:"):
            return read_solution(prompt.split("[Answer start]\n")[1].split("\n[Answer end]")[0]).summary
        problem = next(p for text, p in problems().items() if text in prompt)
        return self.solve(prompt, problem, rng)


def always_right(prompt, problem, rng):
    return right_solution(problem.chain).text


def noisy(prompt, problem, rng):
    solver = SimulatedSolver(problem.chain, Random(problem.chain.digest), AssumedMistakes())
    solver._rng = rng
    return solver.attempt().text


def copies_good_ideas(prompt, problem, rng):
    """Repeats the last idea tagged 1; without one it is right half of the time."""
    if paper.GOOD_IDEAS in prompt:
        return f"boxed{{{prompt.rsplit('boxed{', 1)[1].split('}')[0]}}}"
    return always_right(prompt, problem, rng) if rng.random() < 0.5 else "boxed{0}"


def by_level(scores, kind):
    return [scores[f"direct/{level}/{kind}"] for level in LEVELS]


def test_direct_exam(prompts):
    scores = direct_exam(RuleSampler(always_right), prompts, 4, seed=0)
    for kind in ("mean", "majority", "empty_history"):
        assert by_level(scores, kind) == [1.0] * 5
    assert {v for k, v in scores.items() if k.startswith("step/")} == {1.0}
    never = direct_exam(RuleSampler(lambda *_: "boxed{}"), prompts, 4, seed=0)
    assert set(by_level(never, "mean")) == {0.0} == set(by_level(never, "majority"))


def test_reading_exam(prompts):
    scores = reading_exam(RuleSampler(always_right), prompts, 10, seed=0)
    assert scores["summary/faithful"] == 1.0 and 0.4 < scores["judge/right"] < 0.95


def test_gate_separates_its_contexts(prompts):
    scores = acceptance_scores(RuleSampler(copies_good_ideas), prompts, 8, update=Update(2.0, 0.25), seed=0)
    assert len(scores) == 1 + 5 * len(Context)
    assert scores["gate/none"] == pytest.approx(0.5, abs=0.1)
    for num_ideas in range(1, 6):
        assert scores[f"gate/right_1/{num_ideas}"] == 1.0 and scores[f"gate/wrong_1/{num_ideas}"] == 0.0
        for context in ("wrong_0", "right_0"):
            assert scores[f"gate/{context}/{num_ideas}"] == pytest.approx(0.5, abs=0.2)


def test_rounds_of_a_copier_end_near_the_majority(prompts):
    """ME-ICPO as it is run, on an engine that answers by rule."""

    def solve(prompt, problem, rng):
        if paper.GOOD_IDEAS in prompt:
            return copies_good_ideas(prompt, problem, rng)
        return noisy(prompt, problem, rng)

    rule = RuleSampler(solve)

    def answer(request):
        rng = Random(request.seed)
        return [said(rule.answer(request.prompt.raw, rng)) for _ in range(request.num_samples)]

    budget = Budget(num_rounds=1, num_candidates=16, num_lookaheads=4, num_finals=16)
    scores = evaluate(Sampler(Answering(answer), 0.6, 0.95, 96), prompts, ("l4",), 40, budget, seed=0)
    direct, majority, mean = (scores[f"rehearsal/l4/{k}"] for k in ("direct", "majority", "mean"))
    assert direct < majority and mean == pytest.approx(majority, abs=0.1) and mean > direct


@pytest.mark.parametrize(
    ("is_right", "score"),
    [([1, 0, 1], 1.0), ([1, 0], 0.5), ([None, None], 0.0), ([0, None], 0.0), ([0, 1, None], 0.5)],
)
def test_majority_score(is_right, score):
    problem = next(iter(problems().values()))
    answers = [right if right is None else problem.answer if right else "none" for right in is_right]
    assert majority_score([problem], [answers]) == score
    certain = [problem.answer]
    assert majority_score([problem, problem], [answers, certain]) == (score + 1) / 2
