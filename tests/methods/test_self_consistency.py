"""Self-consistency by hand."""

import pytest

from icpo.types import Purpose
from tests.methods.baselines import self_consistency
from tests.methods.hand import QUESTION, boxed, play, toolkit


def test_each_answer_is_the_majority_of_its_own_samples():
    polls = iter([boxed(5, None, 4, 4), boxed(7, 7, 6, None)])
    method = self_consistency(num_samples=4)
    result, stages = play(method.solve(QUESTION, toolkit(), seed=0), lambda r: next(polls))
    assert [[(r.purpose, r.num_samples) for r in stage] for stage in stages] == [[(Purpose.CANDIDATE, 4)] * 2]
    assert {r.prompt.user for r in stages[0]} == {"What is 2 + 2?\n"}
    assert stages[0][0].seed != stages[0][1].seed
    assert [c.answer for c in result.finals[0][1]] == ["4", "7"]
    assert [(step.name, step.value) for step in result.trace] == [("poll", 0.5), ("poll", 0.5)]


def test_tied_answers_are_chosen_evenly_and_repeatably():
    method = self_consistency(num_samples=2, num_finals=200)
    chosen = []
    for _ in range(2):
        result, _ = play(method.solve(QUESTION, toolkit(), seed=3), lambda r: boxed(5, 6))
        chosen.append([c.answer for c in result.finals[0][1]])
    assert chosen[0] == chosen[1]
    assert 70 < chosen[0].count("5") < 130


def test_nobody_answered_is_an_abstention_of_value_zero():
    result, _ = play(
        self_consistency(num_finals=1).solve(QUESTION, toolkit(), seed=0), lambda r: boxed(None, None, None)
    )
    assert result.finals[0][1][0].answer is None
    assert result.trace[0].value == 0.0


@pytest.mark.parametrize("setting", ["num_samples", "num_finals"])
def test_bad_settings_are_named(setting):
    with pytest.raises(ValueError, match=setting):
        self_consistency(**{setting: 0})
