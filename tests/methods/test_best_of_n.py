"""Best-of-n by hand."""

import pytest

from icpo.types import Purpose
from tests.methods.baselines import best_of_n
from tests.methods.hand import QUESTION, boxed, play, said, toolkit

SAMPLES = [said("a boxed{4}"), said("b boxed{5}"), said("lost"), said("c boxed{6}"), said("b boxed{5}")]


def judged(verdicts):
    """An engine that gives SAMPLES and the verdicts written for each text."""

    def answer(request):
        if request.purpose is Purpose.CANDIDATE:
            return SAMPLES
        text = request.prompt.user.split("[Answer start]\n")[1].split("\n[Answer end]")[0]
        return [said(v) for v in verdicts[text]]

    return answer


def test_the_sample_of_highest_mean_verdict_wins():
    verdicts = {"a boxed{4}": ["yes", "no"], "b boxed{5}": ["Yes.", "yes"], "c boxed{6}": ["no", "hm"]}
    result, stages = play(best_of_n(num_samples=5).solve(QUESTION, toolkit(), seed=0), judged(verdicts))
    assert result.finals[0][1][0].answer == "5"
    assert [step.value for step in result.trace] == [0.0, 100.0, None, -100.0, 100.0]
    asked = stages[1]
    assert len(asked) == 3  # equal texts once, the sample without an answer never
    assert all(r.purpose is Purpose.VALUE and r.num_samples == 2 for r in asked)
    assert all(r.sampling.max_tokens == 16 for r in asked)


def test_among_equals_the_earliest_wins_and_unread_verdicts_are_the_worst():
    verdicts = {"a boxed{4}": ["?", "?"], "b boxed{5}": ["no", "yes"], "c boxed{6}": ["yes", "no"]}
    result, _ = play(best_of_n(num_samples=5).solve(QUESTION, toolkit(), seed=0), judged(verdicts))
    assert result.finals[0][1][0].answer == "5"
    assert result.trace[0].value == -100.0
    b = (-100.0, 100.0)
    assert [step.verdicts for step in result.trace] == [(None, None), b, (), (100.0, -100.0), b]


def test_without_any_answer_nothing_is_judged():
    result, stages = play(best_of_n().solve(QUESTION, toolkit(), seed=0), lambda r: boxed(None, None, None))
    assert len(stages) == 1
    assert result.finals[0][1][0].answer is None


@pytest.mark.parametrize("setting", ["num_samples", "num_verdicts", "num_finals"])
def test_bad_settings_are_named(setting):
    with pytest.raises(ValueError, match=setting):
        best_of_n(**{setting: 0})
