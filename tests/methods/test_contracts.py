"""Own methods, selectors and reward sources that break their protocol are told so in one line, at once."""

import re
from dataclasses import replace

import numpy as np
import pytest

from icpo.errors import ContractError
from icpo.methods import Direct, MeIcpo, Run
from icpo.methods.contracts import Contract, rewarded, selected, start
from icpo.methods.direct import BasePrompt
from icpo.rewards import Majority
from icpo.selectors import Entropy
from icpo.types import (
    Attempt,
    Budget,
    Candidate,
    Lookahead,
    Purpose,
    Question,
    QuestionResult,
    Rewards,
    Round,
    Selection,
    Step,
    Votes,
)
from tests.methods.hand import QUESTION, boxed, driven, play, said, toolkit

CANDIDATES = tuple(Candidate(completion, "4") for completion in boxed(4, 4, 5))
ATTEMPTS = tuple(Attempt(candidate, 1, "so") for candidate in CANDIDATES)
VOTES = Votes((("4", 3),), 0, ("4", "4", "4"))
FINALS = ((1, CANDIDATES),)
RESULT = QuestionResult(QUESTION, 0, (), FINALS)
TOOLS = toolkit()
REQUEST = TOOLS.ask(Purpose.FINAL, TOOLS.prompts.plain(QUESTION), 1, 0)


class Own:
    """A selector or method whose generator is given."""

    name = "mine"
    needs_lookaheads = True

    def __init__(self, body):
        self.select = self.solve = body


def returns(value, *yields):
    """A generator function that yields these stages and returns the value."""

    def body(*_, **__):
        for stage in yields:
            assert len((yield stage)) == len(stage), "what was sampled is sent back"
        return value

    return Own(body)


def plain(value):
    """A function that is no generator."""
    return Own(lambda *_, **__: value)


def asks(*wanted):
    """A selector that asks for these look-aheads, one after another, and keeps the first attempt."""

    def body(attempts, ask, *, num_lookaheads, seed):
        lookaheads = ()
        for each in wanted:
            lookaheads = tuple((yield from ask(each)))
        return Selection((0,), lookaheads)

    return Own(body)


def ask(wanted):
    sampled = yield [replace(REQUEST, num_samples=n) for n in wanted.values()]
    return [Lookahead(i, Votes((("4", len(batch)),), 0)) for i, batch in zip(wanted, sampled, strict=True)]


def select(selector, attempts=ATTEMPTS):
    solving = selected(selector, attempts, ask, num_lookaheads=8, seed=0)
    return play(solving, lambda request: boxed(*[4] * request.num_samples))[0]


def solve(method):
    return driven(start(method, QUESTION, TOOLS, seed=0), lambda request: boxed(*[4] * request.num_samples))


def is_given(result, wanted):
    """Whether a result is the one returned, with its cost alone added."""
    return replace(result, usage=wanted.usage, usage_at_finals=wanted.usage_at_finals) == wanted


def breach(*words):
    """Expects a ContractError whose one line holds these words in their order."""
    return pytest.raises(ContractError, match=rf"\A(?=[^\n]*\Z).*{'.*'.join(map(re.escape, words))}")


def test_what_keeps_to_its_protocol_passes_as_it_is():
    selection = select(asks({0: 3, 2: 8}, {0: 5}, {}))
    assert selection.kept == (0,)
    assert select(returns(Selection(())), attempts=()) == Selection(())
    assert is_given(solve(returns(RESULT, [], [REQUEST])), RESULT)
    assert rewarded(Majority("majority", True), QUESTION, CANDIDATES, VOTES, seed=0).tags == (1, 1, 1)


@pytest.mark.parametrize("value", [None, 0, ATTEMPTS[0], 99, "0", (0,)])
def test_a_selection_of_another_type_is_named(value):
    with breach("selector=mine", "Selection", repr(value)[:20]):
        select(returns(value))


@pytest.mark.parametrize(
    "kept",
    [(-1,), (0, 0), (3,), (0.0,), (True,), (np.True_,), ("0",), (None,), 0, None, "0", [0, np.int64(0)]],
)
def test_what_is_kept_must_be_different_indices_in_range(kept):
    with breach("selector=mine", "kept", "3 attempts", repr(kept)):
        select(returns(Selection(kept)))


def is_plain(values):
    return isinstance(values, tuple) and all(type(value) is int for value in values if value is not None)


@pytest.mark.parametrize("kept", [[2, 0], np.array([2, 0]), (np.int64(2), np.uint8(0))])
def test_lists_and_numpy_indices_are_kept_as_plain_ones(kept):
    selection = select(returns(Selection(kept, [Lookahead(0, VOTES)])))
    assert selection == Selection((2, 0), (Lookahead(0, VOTES),))
    assert is_plain(selection.kept)


def test_what_is_asked_for_in_numpy_numbers_is_sampled_in_plain_ones():
    taken = []

    def ask_plain(wanted):
        taken.append(wanted)
        return ask(wanted)

    selector = asks({np.int64(1): np.int32(5)}, {1: 3})
    solving = selected(selector, ATTEMPTS, ask_plain, num_lookaheads=8, seed=0)
    play(solving, lambda request: boxed(*[4] * request.num_samples))
    assert taken == [{1: 5}, {1: 3}]
    assert all(is_plain((*wanted, *wanted.values())) for wanted in taken)
    with breach("attempt 1", "num_lookaheads=8", "5"):
        select(asks({np.int64(1): np.int32(5)}, {1: 4}))


def test_nothing_can_be_kept_of_no_attempts():
    with breach("0 attempts"):
        select(returns(Selection((0,))), attempts=())


@pytest.mark.parametrize("lookaheads", [None, (1,), [None], ask])
def test_look_aheads_must_be_those_that_were_sampled(lookaheads):
    with breach("selector=mine: lookaheads", "`yield from ask(...)`"):
        select(returns(Selection((0,), lookaheads)))


@pytest.mark.parametrize(
    ("wanted", "at_fault"),
    [
        ([{0: 1000}], ("attempt 0", "num_lookaheads=8")),
        ([{1: 5}, {1: 4}], ("attempt 1", "num_lookaheads=8", "5")),
        ([{0: 0}], ("ask({0: 0})", "attempt 0")),
        ([{0: 2.0}], ("{index: number}", "3 attempts", "[2.0]")),
        ([{True: 1}], ("{index: number}",)),
        ([{3: 1}], ("{index: number}", "3 attempts", "{3: 1}")),
        ([{-1: 1}], ("{-1: 1}",)),
        ([[0, 1]], ("[0, 1]",)),
    ],
)
def test_no_more_look_aheads_are_sampled_than_the_budget_has(wanted, at_fault):
    with breach(*at_fault):
        select(asks(*wanted))


THREE_TAGS = "reward=mine", "Rewards(tags)", "3 tags", "0, 1 or None"


@pytest.mark.parametrize(
    "tags",
    [(0.7, 0, 1), (1.0, 0, 1), (np.float64(1), 0, 1), (2, 0, 1), ("1", 0, 1), (1, 0), (), [1, 0], None, 1],
)
def test_each_candidate_has_a_tag_of_0_or_1_or_none(tags):
    source = Own(None)
    source.rewards = lambda *_, **__: Rewards(tags)
    with breach(*THREE_TAGS, repr(tags)):
        rewarded(source, QUESTION, CANDIDATES, VOTES, seed=0)


@pytest.mark.parametrize(
    "tags",
    [[1, 0, None], (True, False, None), (np.int64(1), np.uint8(0), None), (np.True_, np.False_, None)],
)
def test_lists_booleans_and_numpy_tags_become_plain_ones(tags):
    source = Own(None)
    source.rewards = lambda *_, **__: Rewards(tags, "4", 2)
    given = rewarded(source, QUESTION, CANDIDATES, VOTES, seed=0)
    assert given == Rewards((1, 0, None), "4", 2)
    assert is_plain(given.tags)


@pytest.mark.parametrize("value", [None, [1, 0, 1], (1, 0, 1), 1.0])
def test_rewards_of_another_type_are_named(value):
    source = Own(None)
    source.rewards = lambda *_, **__: value
    with breach(*THREE_TAGS, repr(value)):
        rewarded(source, QUESTION, CANDIDATES, VOTES, seed=0)


@pytest.mark.parametrize("value", [Selection((0,)), RESULT, None, [REQUEST]])
def test_what_is_no_generator_is_told_how_to_be_one(value):
    with breach("selector=mine: select", "generator") as error:
        select(plain(value))
    assert "`yield from ()`" in str(error.value)
    with breach("method=mine: solve", "generator", "QuestionResult"):
        solve(plain(value))


@pytest.mark.parametrize("asked", [REQUEST, None, (REQUEST,), [None], ["prompt"], [[REQUEST]], 3])
def test_a_method_yields_lists_of_requests(asked):
    with breach("body", "list of SampleRequest", "`yield [tools.ask(...)]`") as error:
        solve(returns(RESULT, asked))
    assert str(error.value).startswith("method=mine: ")


def test_a_selector_that_yields_something_else_is_named():
    with breach("returns.<locals>.body", "SampleRequest"):
        solve(me_icpo(selector=returns(Selection((0,)), None)))


OTHER = Question("q2", "What is 3 + 3?", QUESTION.kind)
ROUND = Round(CANDIDATES, VOTES, Rewards((1, 1, 1)), (0,), ATTEMPTS, (), (0,))


@pytest.mark.parametrize(
    ("result", "at_fault"),
    [
        (None, "QuestionResult, got None"),
        (CANDIDATES, "QuestionResult, got (Candidate("),
        (replace(RESULT, seed=1), "'q1' under seed 0"),
        (replace(RESULT, seed=None), "got None."),
        (replace(RESULT, question=OTHER), "got Question(question_id='q2'"),
        (replace(RESULT, question="q1"), "got 'q1'."),
        (replace(RESULT, trace=None), "trace"),
        (replace(RESULT, trace=CANDIDATES), "trace"),
        (replace(RESULT, finals=()), "finals"),
        (replace(RESULT, finals=None), "got None"),
        (replace(RESULT, finals=CANDIDATES), "finals"),
        (replace(RESULT, finals=((1, ()),)), "got ((1, ()),)"),
        (replace(RESULT, finals=((1, ("4",)),)), "got ((1, ('4',)),)"),
        (replace(RESULT, finals=((1, (Candidate(said("4"), 4),)),)), "finals"),
        (replace(RESULT, finals=((None, CANDIDATES),)), "finals"),
        (replace(RESULT, finals=((-1, CANDIDATES),)), "finals"),
        (replace(RESULT, finals=((True, CANDIDATES),)), "finals"),
        (replace(RESULT, finals=((2, CANDIDATES), (0, CANDIDATES))), "got ((2,"),
        (replace(RESULT, finals=((1, CANDIDATES), (1, CANDIDATES))), "finals"),
        (replace(RESULT, trace=(Step("x", (1, 2)),)), "trace"),
        (replace(RESULT, trace=(Step("x", list(CANDIDATES)),)), "trace"),
        (replace(RESULT, trace=(replace(ROUND, candidates=("4",)),)), "trace"),
        (replace(RESULT, trace=(replace(ROUND, candidates=()),)), "trace"),
        (replace(RESULT, dropped_at_finals=(0, 0)), "(0, 0)"),
        (replace(RESULT, dropped_at_finals=None), "dropped_at_finals"),
    ],
)
def test_a_method_returns_a_result_of_its_question_and_seed(result, at_fault):
    with breach("method=mine: ") as error:
        solve(returns(result, [REQUEST]))
    assert at_fault in str(error.value)


def test_a_result_with_all_that_it_may_hold_passes():
    finals = ((0, CANDIDATES), (2, CANDIDATES))
    full = replace(
        RESULT, trace=(ROUND, Step("x", ()), Step("y", CANDIDATES)), finals=finals, dropped_at_finals=(0, 1)
    )
    assert is_given(solve(returns(full, [REQUEST])), full)


@pytest.mark.parametrize("stage", [[REQUEST], []])
def test_what_never_ends_is_stopped(stage):
    def forever():
        while True:
            yield stage

    solving = forever()
    contract = Contract(Own(forever), QUESTION, 0, solving, max_stages=50)
    with breach("method=mine: solve", "50 stages"):
        driven(Run(solving, [contract]), lambda request: boxed(4))


def me_icpo(**parts):
    budget = Budget(num_rounds=1, num_candidates=3, num_lookaheads=4, num_finals=2)
    made = MeIcpo(Majority("majority", True), Entropy("entropy", False), budget)
    return replace(made, **parts)


def test_me_icpo_holds_its_parts_to_their_protocols():
    without = returns(Selection((0,)))
    without.tagged = True
    with pytest.raises(ValueError, match=r"RewardSource.*rewards"):
        me_icpo(reward=without)
    with pytest.raises(ValueError, match=r"Selector.*needs_lookaheads, select"):
        me_icpo(selector=Majority("majority", True))

    without.rewards = lambda *_, **__: Rewards((0.7,) * 3)
    for method, fault in (
        (me_icpo(reward=without), "reward=mine: rewards must"),
        (me_icpo(selector=asks({0: 5})), "selector=mine: ask({0: 5}) must leave"),
        (me_icpo(selector=returns(Selection((-1,)))), "selector=mine: kept must"),
    ):
        with breach(fault):
            solve(method)


def test_the_checks_change_no_request_and_no_result():
    for method in (me_icpo(), Direct(BasePrompt.PLAIN, Budget(num_finals=3))):
        answers = [lambda request: boxed(*range(request.num_samples))] * 2
        held, free = start(method, QUESTION, TOOLS, seed=3), Run(method.solve(QUESTION, TOOLS, seed=3))
        assert driven(held, answers[0]) == driven(free, answers[1])
