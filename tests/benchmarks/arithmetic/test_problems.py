"""Answers are exact, texts tell the chain, and nothing of the test or dev split can occur in training."""

import re
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from icpo.benchmarks.arithmetic import (
    HELDOUT_SETS,
    LEVELS,
    RULES,
    Chain,
    Operation,
    Split,
    Step,
    draw_problem,
    questions,
)
from icpo.benchmarks.arithmetic.splits import HELDOUT_RULES
from icpo.benchmarks.arithmetic.stories import HELDOUT_WORLDS, TRAIN_WORLDS
from icpo.benchmarks.arithmetic.telling import tell

ALL_SETS = (*LEVELS, *HELDOUT_SETS)


def evaluate(canonical: str) -> Fraction:
    """Left to right, in fractions: written apart from Operation.apply."""
    start, *rest = re.findall(r"\d+|[-+*/]", canonical)
    value = Fraction(int(start))
    for sign, number in zip(rest[::2], rest[1::2], strict=True):
        n = Fraction(number)
        value = {"+": value + n, "-": value - n, "*": value * n, "/": value / n}[sign]
    return value


@pytest.mark.parametrize("level", ALL_SETS)
def test_answers_are_exact_and_values_bounded(level):
    problems = questions("test", level)
    assert len(problems) >= 200
    for problem in problems:
        assert evaluate(problem.chain.canonical) == Fraction(problem.answer)
        assert all(1 <= v <= RULES.max_value for v in problem.chain.values)


@pytest.mark.parametrize("level", ALL_SETS)
def test_text_tells_every_operand(level):
    for problem in questions("dev", level, 100):
        told = re.findall(r"\d+", problem.text)
        needed = [problem.chain.start, *(s.operand for s in problem.steps)]
        assert told[0] == str(problem.chain.start) or not problem.text.startswith(told[0])
        for number in needed:
            assert str(number) in told
            told.remove(str(number))
        assert len(told) <= 1, "at most one number may not matter"


@pytest.mark.parametrize("level", LEVELS)
def test_level_is_the_number_of_steps(level):
    assert {len(p.steps) for p in questions("test", level)} == {int(level[1])}


def test_before_and_after_order_the_steps():
    chain = Chain(50, (Step(Operation.PLUS, 11), Step(Operation.TIMES, 3)))
    texts = [tell(Random(seed), chain, TRAIN_WORLDS) for seed in range(200)]
    told = {text: [n for n in re.findall(r"\d+", text) if n in ("11", "3")] for text in texts}
    reversed_texts = [text for text, order in told.items() if order == ["3", "11"]]
    assert reversed_texts and all("Before" in text for text in reversed_texts)
    assert any("After" in text and "After that" not in text for text in set(texts) - set(reversed_texts))
    assert all(told[text] == ["3", "11"] for text in texts if "Before" in text)


def test_splits_are_disjoint_by_digest():
    chains = {
        split: {p.chain.digest for level in ALL_SETS for p in questions(split, level)}
        for split in ("dev", "test")
    }
    chains["train"] = {
        draw_problem(Random(seed), 1 + seed % 5, Split.TRAIN, RULES, TRAIN_WORLDS).chain.digest
        for seed in range(3000)
    }
    for one, other in combinations(chains.values(), 2):
        assert not one & other
    buckets = {split: {d % 20 for d in digests} for split, digests in chains.items()}
    assert buckets["test"] == {0} and buckets["dev"] == {1} and not buckets["train"] & {0, 1}


def test_heldout_sets_lie_outside_training():
    operands = {s.operand for p in questions("test", "heldout_operands") for s in p.steps}
    low, high = HELDOUT_RULES.addends[0], HELDOUT_RULES.large_factors
    seen = set(range(2, 30)) | set(range(RULES.addends[0], RULES.addends[1] + 1))
    assert all(o >= low or high[0] <= o <= high[1] or 10 <= o <= 19 for o in operands)
    assert {o for o in operands if o >= low} and not {o for o in operands if o >= low} & seen
    assert {len(p.steps) for p in questions("test", "heldout_length")} == {6}
    trained = {phrase for w in TRAIN_WORLDS for options in w.phrases.values() for phrase in options}
    held_out = {phrase for w in HELDOUT_WORLDS for options in w.phrases.values() for phrase in options}
    assert not trained & held_out


def test_questions_are_deterministic_distinct_prefixes():
    first, whole = questions("test", "l3", 20), questions("test", "l3")
    assert first == whole[:20]
    assert len({p.problem_id for p in whole}) == len(whole)
    assert whole[0].problem_id == f"l3-{whole[0].chain.digest:016x}"
    questions.cache_clear()
    assert questions("test", "l3") == whole


@pytest.mark.parametrize(
    ("split", "level", "count"), [("test", "l9", 3), ("train", "heldout_length", 3), ("test", "l1", 0)]
)
def test_unknown_sets_are_refused(split, level, count):
    with pytest.raises(ValueError, match="must"):
        questions(split, level, count)
    with pytest.raises(ValueError, match="whole number"):
        Operation.DIVIDE.apply(7, 2)
