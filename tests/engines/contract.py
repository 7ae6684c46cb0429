"""What every engine does with the same requests: bounded loops, so that none that hangs hangs a test."""

from icpo.types import FinishReason, Prompt, Purpose, SampleRequest
from tests.sampling import sampling_of

WARM = sampling_of(temperature=1.0, top_p=1.0, max_tokens=12, min_room_tokens=4)
GREEDY = sampling_of(temperature=0.0, top_p=1.0, max_tokens=12, min_room_tokens=4)
MAX_WAITS = 2000


def ask(text, sampling=WARM, num_samples=1, seed=7, purpose=Purpose.CANDIDATE):
    return SampleRequest(purpose, Prompt("be brief.", text), sampling, num_samples, seed)


def collect(engine, requests, first_ticket=0):
    """The completions of each request, submitted together."""
    wanted = range(first_ticket, first_ticket + len(requests))
    for ticket, request in zip(wanted, requests, strict=True):
        engine.submit(ticket, request)
    found = {}
    for _ in range(MAX_WAITS):
        if len(found) == len(requests):
            return [found[ticket] for ticket in wanted]
        for ticket, completions in engine.finished():
            assert ticket in wanted and ticket not in found, "a ticket that was not asked for, or twice"
            found[ticket] = completions
    raise TimeoutError("not all requests were answered")


def as_many_as_asked(engine, context):
    given = collect(engine, [ask("1+1?", num_samples=3), ask("2+2?"), ask("3+3?", num_samples=2)])
    assert [len(completions) for completions in given] == [3, 1, 2]
    for completion in (one for completions in given for one in completions):
        assert completion.finish_reason in (FinishReason.STOP, FinishReason.LENGTH)
        assert 0 < completion.num_completion_tokens <= WARM.max_tokens
        assert completion.num_prompt_tokens > 0


def greedy_samples_are_one(engine, context):
    [given] = collect(engine, [ask("1+1?", GREEDY, num_samples=3)])
    assert len(given) == 3 and len({completion.text for completion in given}) == 1


def limits_cut_and_are_counted(engine, context):
    [given] = collect(engine, [ask("count.", sampling_of(1.0, 1.0, 3), num_samples=4)])
    for completion in given:
        assert completion.num_completion_tokens <= 3
        if completion.finish_reason is FinishReason.LENGTH:
            assert completion.num_completion_tokens == 3


def a_prompt_without_room_is_too_long(engine, context):
    given = collect(engine, [ask("7 " * 2 * context, num_samples=2), ask("1+1?")])
    assert [one.finish_reason for one in given[0]] == [FinishReason.PROMPT_TOO_LONG] * 2
    assert [one.text for one in given[0]] == [""] * 2
    assert given[1][0].finish_reason is not FinishReason.PROMPT_TOO_LONG


def a_prompt_with_some_room_gets_what_is_left(engine, context):
    sampling = sampling_of(1.0, 1.0, context - 30, min_room_tokens=4)
    [[completion]] = collect(engine, [ask("7 " * 60, sampling)])
    assert completion.finish_reason is not FinishReason.PROMPT_TOO_LONG
    assert completion.num_prompt_tokens + completion.num_completion_tokens <= context


def a_cancelled_request_is_not_reported(engine, context):
    engine.submit(90, ask("dropped"))
    engine.cancel(90)
    collect(engine, [ask("kept")], first_ticket=91)


def null_and_extra_sampling_is_taken(engine, context):
    null = sampling_of(None, None, 8)
    cut = sampling_of(1.0, 1.0, 8, top_k=5, min_p=0.01)
    assert all(len(given) == 2 for given in collect(engine, [ask("a", null, 2), ask("b", cut, 2)]))


def tickets_may_be_used_again(engine, context):
    for _ in range(2):
        collect(engine, [ask("1+1?")])


def the_identity_stays(engine, context):
    before = engine.identity
    collect(engine, [ask("1+1?")])
    assert engine.identity == before != ""


SITUATIONS = (
    as_many_as_asked,
    greedy_samples_are_one,
    limits_cut_and_are_counted,
    a_prompt_without_room_is_too_long,
    a_prompt_with_some_room_gets_what_is_left,
    a_cancelled_request_is_not_reported,
    null_and_extra_sampling_is_taken,
    tickets_may_be_used_again,
    the_identity_stays,
)
