"""Everyday word problems: answers by construction, numbers within their level's ranges."""

import re

import pytest

from icpo.benchmarks.words import LEVELS, evaluate, word_problems


@pytest.mark.parametrize(
    ("chain", "numbers", "value"),
    [
        ("a + b", {"a": 2, "b": 3}, 5),
        ("a + b / c", {"a": 4, "b": 2, "c": 3}, 2),
        ("a * b - c", {"a": 3, "b": 4, "c": 5}, 7),
    ],
)
def test_chains_are_computed_from_left_to_right(chain, numbers, value):
    assert evaluate(chain, numbers) == value


@pytest.mark.parametrize(("chain", "numbers"), [("a - b", {"a": 2, "b": 2}), ("a / b", {"a": 3, "b": 2})])
def test_values_below_one_and_fractions_are_refused(chain, numbers):
    with pytest.raises(ValueError, match=r"falls to 0|not a whole number"):
        evaluate(chain, numbers)


@pytest.mark.parametrize("level", LEVELS)
def test_problems_are_different_complete_and_within_their_ranges(level):
    problems, rules = word_problems(level), LEVELS[level]
    assert len({p.text for p in problems}) == len({p.problem_id for p in problems}) == 200
    for problem in problems:
        numbers = [int(digits) for digits in re.findall(r"\d+", problem.text)]
        assert len(numbers) == {"one_step": 2, "two_steps": 3}[rules.templates]
        assert min(numbers) >= min(rules.terms[0], rules.factors[0]) and max(numbers) <= rules.terms[1]
        assert 1 <= problem.answer <= rules.max_value
        assert not re.search(r"[{}]", problem.text) and problem.text.endswith("?")


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match=r"l1, l2, l3.*'l9'"):
        word_problems("l9")
