"""What ME-ICPO can do beyond the paper: stop early, force the answer."""

import pytest

from icpo.prompts import Book
from icpo.types import FinishReason, Purpose
from tests.methods.hand import BOOK, QUESTION, boxed, play, said, toolkit
from tests.methods.test_me_icpo import HAND, by_purpose, method

AGREED = {
    "candidate": [said("way one: boxed{4}")] * 4,
    "summary": {"way one: boxed{4}": "ONE"},
    "lookahead": {"ONE": [4, 4, 4, 5]},
    "final": boxed(4, 5),
}
FORCED = Book(BOOK.answer_line, False, True, "full", forced_answer="The answer is boxed{")


def stages(asked):
    return [stage[0].purpose.value for stage in asked]


@pytest.mark.parametrize(("share", "num_rounds"), [(None, 3), (0.4, 1), (0.5, 1), (0.51, 3), (1.0, 3)])
def test_rounds_end_once_so_large_a_share_of_all_candidates_agrees(share, num_rounds):
    """Two of four candidates say 4; the one without an answer counts in the share's base."""
    settings = method(num_rounds=3, early_stop=share)
    result, _ = play(settings.solve(QUESTION, toolkit(), seed=0), by_purpose(HAND))
    assert len(result.trace) == num_rounds


def test_a_stopped_run_samples_the_finals_of_every_round_asked_for():
    settings = method(num_rounds=3, early_stop=1.0, finals_after=(0, 1, 3))
    result, asked = play(settings.solve(QUESTION, toolkit(), seed=0), by_purpose(AGREED))
    assert stages(asked) == ["final", "candidate", "summary", "lookahead", "final", "final"]
    assert [after for after, _ in result.finals] == [0, 1, 3]
    assert asked[-1][0].prompt == asked[-2][0].prompt, "the history of the round that settled it"


def test_the_last_round_decides_whether_to_stop_not_the_first():
    """Round 1 disagrees, round 2 agrees, round 3 is spared."""

    def answer(request):
        is_first = request.purpose is Purpose.CANDIDATE and "]- " not in request.prompt.user
        return by_purpose(
            HAND if is_first else AGREED | {"summary": HAND["summary"]} | {"lookahead": HAND["lookahead"]}
        )(request)

    settings = method(num_rounds=3, early_stop=1.0)
    result, _ = play(settings.solve(QUESTION, toolkit(), seed=0), answer)
    assert [done.votes.counts for done in result.trace] == [(("4", 2), ("5", 1)), (("4", 4),)]


def test_nobody_agrees_when_nobody_answers():
    silent = {"candidate": boxed(None, None, None, None), "final": boxed(4, 4)}
    settings = method(num_rounds=2, early_stop=0.1)
    result, _ = play(settings.solve(QUESTION, toolkit(), seed=0), by_purpose(silent))
    assert len(result.trace) == 2


@pytest.mark.parametrize("share", [0, -0.5, 1.1])
def test_a_share_out_of_range_is_named(share):
    with pytest.raises(ValueError, match="early_stop"):
        method(early_stop=share)


def test_a_forced_answer_ends_the_prompt_of_look_aheads_alone():
    script = by_purpose(HAND)

    def answer(request):
        if request.purpose is Purpose.LOOKAHEAD:
            inside = ("4", "4", "4", "4") if "TWO" in request.prompt.user else ("1", "2", "3", "4")
            return [said(text) for text in inside]
        return script(request)

    result, asked = play(method().solve(QUESTION, toolkit(FORCED), seed=0), answer)
    for request in (request for stage in asked for request in stage):
        is_forced = request.prompt.user.endswith("\nThe answer is boxed{")
        assert is_forced == (request.purpose is Purpose.LOOKAHEAD)
    [done] = result.trace
    assert done.kept == (1,) and done.lookaheads[1].votes.counts == (("4", 4),)
    assert [c.completion.text for c in done.lookaheads[1].candidates] == ["4"] * 4


def test_half_a_forced_answer_is_none():
    tools = toolkit(FORCED)
    sampled = [said("12"), said("1234567", FinishReason.LENGTH), said("8} so boxed{9")]
    assert [c.answer for c in tools.lookaheads(sampled, QUESTION.kind)] == ["12", None, "9"]
