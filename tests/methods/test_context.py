"""What happens where ideas do not fit the context: who leaves, what is never measured, what is counted."""

import pytest

from icpo.lab.controls import MajorityHint
from icpo.lab.racing import Bound, Exact
from icpo.selectors import Entropy, EntropyRacing
from icpo.types import Budget, Purpose
from tests.methods.hand import QUESTION, TOO_LONG, boxed, play, toolkit
from tests.methods.test_me_icpo import HAND, by_purpose, method

SURE = {"ONE": [4, 4, 4, 4], "TWO": [4, 4, 4, 4], "THREE": [4, 4, 4, 5]}


def racing(kind, **knobs):
    return kind(name="racing", instalments=(2, 2), **knobs)


RACES = [racing(EntropyRacing), racing(Bound, width=1.0, certain_after=None), racing(Exact)]


def too_long_with(*summaries):
    """The hand's answers; prompts with one of these summaries do not fit, and without ideas all agree."""

    def answer(request):
        user = request.prompt.user
        if request.purpose is not Purpose.SUMMARY and any(f"]- {s}" in user for s in summaries):
            return [TOO_LONG] * request.num_samples
        if request.purpose is Purpose.LOOKAHEAD:
            return (boxed(*SURE["THREE"]) if "THREE" in user else boxed(4, 4, 4, 4))[: request.num_samples]
        return by_purpose(HAND)(request)

    return answer


def room_for_one_idea(request):
    if request.prompt.user.count("]- ") > 1:
        return [TOO_LONG] * request.num_samples
    return by_purpose(HAND | {"lookahead": SURE})(request)


@pytest.mark.parametrize(
    "selector",
    [Entropy("entropy", False), Entropy("max", True), *RACES],
    ids=lambda selector: f"{selector.name}-{type(selector).__name__}",
)
@pytest.mark.parametrize("num_rounds", [1, 2])
def test_an_attempt_that_does_not_fit_alone_is_neither_measured_nor_kept(selector, num_rounds):
    settings = method(selector=selector, num_rounds=num_rounds)
    result, asked = play(settings.solve(QUESTION, toolkit(), seed=0), too_long_with("ONE", "TWO"))
    for done in result.trace:
        assert [a.summary for a in done.attempts] == ["ONE", "TWO", "THREE"]
        assert [x.attempt for x in done.lookaheads] == [2] and done.kept == (2,)
    looks = [r for stage in asked for r in stage if r.purpose is Purpose.LOOKAHEAD]
    assert all("]- " in r.prompt.user for r in looks), "the empty history measures no attempt"


@pytest.mark.parametrize("selector", [Entropy("entropy", False), *RACES[1:]])
def test_nothing_is_kept_where_no_attempt_fits(selector):
    settings = method(selector=selector)
    result, asked = play(settings.solve(QUESTION, toolkit(), seed=0), too_long_with("ONE", "TWO", "THREE"))
    assert result.trace[0].kept == () and result.trace[0].lookaheads == ()
    assert "]- " not in asked[-1][0].prompt.user and [c.answer for c in result.finals[0][1]] == ["4", "5"]


def test_what_look_aheads_and_finals_leave_out_is_counted():
    settings = method(num_rounds=3, finals_after=(0, 1, 2, 3))
    result, _ = play(settings.solve(QUESTION, toolkit(), seed=0), room_for_one_idea)
    assert [[x.num_dropped for x in done.lookaheads] for done in result.trace] == [[0] * 3, [1] * 3, [2] * 3]
    assert [done.num_dropped for done in result.trace] == [0, 0, 1]
    assert result.dropped_at_finals == (0, 0, 1, 2)


def test_a_hint_that_does_not_fit_is_counted():
    def answer(request):
        is_too_long = "]- " in request.prompt.user
        return [TOO_LONG] * request.num_samples if is_too_long else boxed(4, 5)

    result, _ = play(
        MajorityHint("hint", "hint", Budget(num_samples=2, num_finals=2)).solve(QUESTION, toolkit(), seed=0),
        answer,
    )
    assert result.dropped_at_finals == (1,)
