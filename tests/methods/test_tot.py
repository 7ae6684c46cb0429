"""Trees of thoughts by hand."""

import pytest

from icpo.methods.tot_evaluation import ContinuationVote
from icpo.prompts.tot import Thoughts
from icpo.types import FinishReason, Purpose
from tests.methods.baselines import tot
from tests.methods.hand import QUESTION, boxed, play, said, toolkit

PLAIN = "What is 2 + 2?\n"


def steps_in(request):
    """The solution so far that a request shows."""
    if request.purpose is Purpose.VALUE:
        return request.prompt.user.split("[Steps start]\n")[1].split("\n[Steps end]")[0]
    return request.prompt.user.removeprefix(PLAIN)


THOUGHTS = {
    "": [said("good"), said("bad"), said("good \n"), said("fair")],
    "good\n": [said("end boxed{4}"), said("better"), said("worse"), said("")],
    "fair\n": [said("boxed{9}"), said("boxed{9}"), said("poor"), said("poor")],
}
VERDICTS = {
    "good": "sure",
    "bad": "impossible",
    "fair": "likely",
    "good\nend boxed{4}": "likely",
    "good\nbetter": "sure",
    "good\nworse": "impossible",
    "fair\nboxed{9}": "impossible",
    "fair\npoor": "impossible",
    "good\nbetter\nboxed{5}": "likely",
}


def self_evaluated(request):
    if request.purpose is Purpose.THOUGHT:
        return THOUGHTS[steps_in(request)]
    if request.purpose is Purpose.VALUE:
        return [said(VERDICTS[steps_in(request)])]
    assert request.purpose is Purpose.FINAL and steps_in(request) == "good\nbetter\n"
    return [said("boxed{5}")]


def test_self_evaluation_by_hand():
    result, stages = play(tot(num_thoughts=4).solve(QUESTION, toolkit(), seed=0), self_evaluated)
    purposes = [[r.purpose.value for r in stage] for stage in stages]
    assert purposes == [
        ["thought"],
        ["value"] * 3,  # the two equal thoughts are one state
        ["thought"] * 2,
        ["value"] * 5,  # the blank thought is none
        ["final"],
        ["value"],
    ]
    values = [(step.name, step.value, step.parent, len(step.candidates)) for step in result.trace]
    assert values[:3] == [
        ("thought", 100.0, None, 2),
        ("thought", -100.0, None, 1),
        ("thought", 0.0, None, 1),
    ]
    assert values[3:] == [
        ("thought", 0.0, 0, 1),
        ("thought", 100.0, 0, 1),
        ("thought", -100.0, 0, 1),
        ("thought", -100.0, 2, 2),
        ("thought", -100.0, 2, 2),
        ("thought", 0.0, 4, 1),
    ]
    # "good, better" ranked before "good, end" until its end was as likely as that: the answer is its
    assert result.trace[8].candidates[0].answer == "5"
    assert result.finals[0][1][0].answer == "5"


def test_blank_thoughts_leave_the_state_as_it_is_and_end_it():
    def answer(request):
        if request.purpose is Purpose.THOUGHT:
            return [said("start")] * 3 if steps_in(request) == "" else [said(" \n")] * 3
        return [said("sure")] if request.purpose is Purpose.VALUE else boxed(6)

    result, stages = play(tot(depth=9).solve(QUESTION, toolkit(), seed=0), answer)
    assert [stage[0].purpose.value for stage in stages] == ["thought", "value"] * 2 + ["final", "value"]
    assert steps_in(stages[4][0]) == "start\n"
    assert result.finals[0][1][0].answer == "6"


def test_thoughts_end_at_the_separator_and_truncated_ones_go_on_where_they_stopped():
    asked = []

    def answer(request):
        if request.purpose is Purpose.THOUGHT:
            asked.append(request)
            return [said("7 + ", FinishReason.LENGTH)] if len(asked) == 1 else [said("1 = 8")]
        return [said("sure")] if request.purpose is Purpose.VALUE else [said("boxed{8}")]

    method = tot(num_thoughts=1, num_kept=1)
    result, stages = play(method.solve(QUESTION, toolkit(), seed=0), answer)
    assert asked[0].sampling.stop == ("\n",) and asked[0].sampling.max_tokens == 20
    assert [r.prompt.user for r in asked] == [PLAIN, PLAIN + "7 + "]
    [[final]] = [stage for stage in stages if stage[0].purpose is Purpose.FINAL]
    assert final.prompt.user == PLAIN + "7 + 1 = 8\n" and final.sampling.stop == ()
    assert result.finals[0][1][0].answer == "8"


def test_search_stops_when_all_that_is_kept_is_finished():
    def answer(request):
        if request.purpose is Purpose.THOUGHT:
            return boxed(4, 4, 4)
        return [said("sure")]

    result, stages = play(tot(depth=9).solve(QUESTION, toolkit(), seed=0), answer)
    assert [stage[0].purpose.value for stage in stages] == ["thought", "value"]
    assert result.finals[0][1][0].answer == "4"


def test_continuation_vote_by_hand():
    votes = {"a\n": boxed(4, 4), "b\n": boxed(4, 5), "c\n": boxed(5, None)}
    method = tot(depth=1, evaluation=ContinuationVote(2))

    def answer(request):
        if request.purpose is Purpose.THOUGHT:
            return [said("c"), said("b"), said("a")]
        if request.purpose is Purpose.LOOKAHEAD:
            return votes[steps_in(request)]
        return boxed({"a\n": 8, "b\n": 9}[steps_in(request)])

    result, stages = play(method.solve(QUESTION, toolkit(), seed=0), answer)
    assert [step.value for step in result.trace[:3]] == [0.0, 0.5, 1.0]
    assert [steps_in(r) for r in stages[2]] == ["a\n", "b\n"]  # best first
    assert [step.value for step in result.trace[3:]] == [1.0, 1.0]  # a tie at last: both answers won
    assert len(stages) == 3  # leaves vote for themselves at no cost
    assert result.finals[0][1][0].answer == "8"


def test_a_thought_sampled_several_times_is_continued_once_and_votes_as_often_as_it_was_sampled():
    method = tot(depth=1, num_thoughts=4, num_kept=1, evaluation=ContinuationVote(2))

    def answer(request):
        if request.purpose is Purpose.THOUGHT:
            return [said("often"), said("once"), said("often"), said("often")]
        if request.purpose is Purpose.LOOKAHEAD:
            return boxed(5, 6) if steps_in(request) == "often\n" else boxed(4, 4)
        return boxed(5)

    result, stages = play(method.solve(QUESTION, toolkit(), seed=0), answer)
    assert [request.num_samples for request in stages[1]] == [2, 2]
    assert [step.value for step in result.trace[:2]] == [1.0, 0.0]  # 5 and 6 have three votes each, 4 has two
    assert result.finals[0][1][0].answer == "5"


def test_a_finished_thought_votes_as_often_as_the_continuations_of_others():
    method = tot(depth=1, num_thoughts=2, num_kept=1, evaluation=ContinuationVote(3))

    def answer(request):
        if request.purpose is Purpose.THOUGHT:
            return [said("go on"), said("boxed{6}")]
        return boxed(4, 4, 6)

    result, _ = play(method.solve(QUESTION, toolkit(), seed=0), answer)
    assert [step.value for step in result.trace] == [pytest.approx(1 / 3), 1.0]
    assert result.finals[0][1][0].answer == "6"


def test_instructed_prompts_show_the_steps_and_ask_for_one_or_for_the_rest():
    asked = []

    def answer(request):
        asked.append(request)
        return [said("sure" if request.purpose is Purpose.VALUE else "a step")] * request.num_samples

    play(tot(depth=1, thoughts=Thoughts("instructed")).solve(QUESTION, toolkit(), seed=0), answer)
    thought, _, rest, _ = asked
    assert "(none yet)" in thought.prompt.user and "next step" in thought.prompt.user
    assert "[Steps start]\na step\n[Steps end]" in rest.prompt.user and "to its end" in rest.prompt.user


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"depth": 0}, "depth"),
        ({"num_thoughts": 0}, "num_thoughts"),
        ({"num_kept": 0}, "num_kept"),
        ({"num_finals": 0}, "num_finals"),
        ({"separator": ""}, "separator"),
    ],
)
def test_bad_settings_are_named(changes, word):
    with pytest.raises(ValueError, match=word):
        tot(**changes)
    with pytest.raises(ValueError, match="greater than 0"):
        ContinuationVote(0)


def test_the_steps_of_a_model_that_thinks_end_after_its_thoughts():
    def answer(request):
        if request.purpose is Purpose.VALUE:
            return [said("hm</think>sure")] * request.num_samples
        step = "boxed{4}" if "2 + 2 = 4" in request.prompt.user else "2 + 2 = 4\nand so on"
        return [said(f"let me\nsee</think>\n\n{step}")] * request.num_samples

    result, stages = play(tot().solve(QUESTION, toolkit(reasoning_end="</think>"), seed=0), answer)
    assert all("\n" not in request.sampling.stop for stage in stages for request in stage)
    assert "2 + 2 = 4\n" in stages[2][0].prompt.user and "and so on" not in stages[2][0].prompt.user
    assert result.trace[0].verdicts == (100.0,) and result.finals[0][1][0].answer == "4"
