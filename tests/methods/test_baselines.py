"""What holds for every baseline, whatever the engine says: it ends, stays in its budget and sees no gold."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.evaluation.dry_run import WorstCase, worst_case_tools
from icpo.methods import Run, drive
from icpo.methods.independent import side_by_side
from icpo.types import FinishReason, Purpose, Step
from tests.methods.baselines import BASELINES, USELESS, best_of_n, constant, mctsr, tot
from tests.methods.hand import QUESTION, driven, play, said, toolkit

WORDS = ["", "7 + 1 = 8", "boxed{8}", "boxed{9}", "yes", "no", "sure", "impossible", "-40", "99", "\n", "so"]


def most_sequences(method):
    """What the dry run says of a method."""
    engine = WorstCase(10_000, samples_per_call=None, refuses=False)
    tools = worst_case_tools(toolkit().prompts, toolkit().sampling, answer_tokens=10)
    list(drive([Run(method.solve(QUESTION, tools, seed=0))], engine, max_in_flight=1))
    return engine.need.num_sequences


@pytest.mark.parametrize("engine", USELESS)
@pytest.mark.parametrize("name", BASELINES)
def test_ends_within_budget_when_the_engine_is_useless(name, engine):
    method = BASELINES[name]
    result = driven(Run(method.solve(QUESTION, toolkit(), seed=0)), USELESS[engine])
    [(rounds, finals)] = result.finals
    assert rounds == 0 and len(finals) == method.budget.num_finals
    assert all(final.answer is None for final in finals)
    assert 0 < result.usage.num_sequences <= most_sequences(method)
    assert result.usage_at_finals == (result.usage,)


@pytest.mark.parametrize("name", BASELINES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_ends_within_budget_when_the_engine_says_anything(name, seed):
    rng = Random(seed)
    method = BASELINES[name]

    def answer(request):
        reasons = list(FinishReason)
        return [
            said("\n".join(rng.choices(WORDS, k=rng.randint(0, 3))), rng.choice(reasons))
            for _ in range(request.num_samples)
        ]

    result = driven(Run(method.solve(QUESTION, toolkit(), seed=0)), answer)
    assert len(result.finals[0][1]) == method.budget.num_finals
    assert result.usage.num_sequences <= most_sequences(method)
    assert result.usage_at_finals == (result.usage,)
    for place, step in enumerate(result.trace):
        assert isinstance(step, Step) and (step.parent is None or 0 <= step.parent < place)
    sampled = {id(c.completion) for step in result.trace for c in step.candidates}
    assert all(id(final.completion) in sampled for final in result.finals[0][1])


@pytest.mark.parametrize("name", BASELINES)
def test_same_seed_same_requests_and_runs_differ_in_all_their_seeds(name):
    method = BASELINES[name]
    asked = {}
    for seed in (0, 0, 1):
        _, stages = play(method.solve(QUESTION, toolkit(), seed=seed), USELESS["nonsense"])
        asked.setdefault(seed, []).append(stages)
    assert asked[0][0] == asked[0][1]
    sampled = [r.seed for stages in (asked[0][0], asked[1][0]) for stage in stages for r in stage if r.seed]
    assert len(set(sampled)) == len(sampled)


def _asks(*stages):
    heard = []
    for stage in stages:
        heard.append((yield list(stage)))
    return heard


def test_side_by_side_joins_stages_and_returns_each_its_own():
    together = side_by_side([_asks("a", "bc"), _asks("d"), _asks(), _asks("", "e", "f")])
    stages = []
    heard = None
    try:
        while True:
            stages.append(together.send(heard))
            heard = [request.upper() for request in stages[-1]]
    except StopIteration as stop:
        results = stop.value
    assert stages == [["a", "d"], ["b", "c", "e"], ["f"]]
    assert results == [[["A"], ["B", "C"]], [["D"]], [], [[], ["E"], ["F"]]]


def test_side_by_side_of_nothing_asks_nothing():
    with pytest.raises(StopIteration) as stop:
        next(side_by_side([]))
    assert stop.value.value == []


JUDGES = {"best_of_n": best_of_n(), "tot_self_eval": tot(), "mctsr": mctsr()}


@pytest.mark.parametrize("name", JUDGES)
def test_verdicts_that_cannot_be_read_are_counted(name):
    def answer(request):
        text = "hm" if request.purpose is Purpose.VALUE else "boxed{4}"
        return [said(text)] * request.num_samples

    result, stages = play(JUDGES[name].solve(QUESTION, toolkit(), seed=0), answer)
    asked = sum(r.num_samples for stage in stages for r in stage if r.purpose is Purpose.VALUE)
    given = [verdict for step in result.trace for verdict in step.verdicts]
    assert given and set(given) == {None}
    assert len(given) >= asked, "equal solutions are judged once and share their verdicts"
    assert all(step.value == -100.0 for step in result.trace if step.verdicts)


@pytest.mark.parametrize("name", JUDGES)
def test_a_model_that_thinks_gets_room_for_thoughts_on_top_of_a_short_reply(name):
    def limits(tools):
        _, stages = play(JUDGES[name].solve(QUESTION, tools, seed=0), constant(said("boxed{4}")))
        short = (Purpose.VALUE, Purpose.THOUGHT)
        return {r.purpose: r.sampling.max_tokens for stage in stages for r in stage if r.purpose in short}

    plain, thinking = (limits(toolkit(thinking_tokens=num)) for num in (0, 30))
    assert thinking == {purpose: limit + 30 for purpose, limit in plain.items()} != {}
