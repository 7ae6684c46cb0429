from datetime import datetime, timezone

import pytest

from icpo.engines.api import wire
from icpo.types import FinishReason, Prompt


def choice(text="hi", reason="stop"):
    return {"message": {"content": text}, "finish_reason": reason}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.25 "}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 31 Dec 2025 23:00:00 GMT"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 -0000"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Thu, 01 Jan 99999999999 00:00:30 GMT"}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers, seconds):
    assert wire.retry_after_seconds(headers, now=datetime(2026, 1, 1, tzinfo=timezone.utc)) == seconds


def test_completion_tokens_are_shared_out_by_length_and_add_up():
    reply = {
        "choices": [choice("a" * 10), choice("b" * 30), choice("c" * 60)],
        "usage": {
            "prompt_tokens": 7,
            "completion_tokens": 101,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
    }
    completions = wire.read_completions(reply)
    assert [c.num_completion_tokens for c in completions] == [10, 30, 61]
    assert {(c.num_prompt_tokens, c.num_cached_tokens) for c in completions} == {(7, 4)}


def test_thinking_is_charged_though_it_is_not_shown():
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 110}
    [completion] = wire.read_completions({"choices": [choice(None, "length")], "usage": usage})
    assert completion.num_completion_tokens == 103
    assert (completion.text, completion.finish_reason) == ("", FinishReason.LENGTH)


def test_without_usage_tokens_are_estimated_from_the_text():
    [completion] = wire.read_completions({"choices": [choice("x" * 41)]})
    assert (completion.num_prompt_tokens, completion.num_completion_tokens) == (0, 10)


@pytest.mark.parametrize(
    ("reason", "read"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("eos", FinishReason.STOP),
        (None, FinishReason.STOP),
    ],
)
def test_finish_reasons(reason, read):
    assert wire.finish_reason(choice(reason=reason)) is read


@pytest.mark.parametrize("reply", [None, "<html>", [], {"choices": "none"}, {"choices": ["text"]}, 5])
def test_what_is_no_reply_is_an_error_rather_than_an_answer(reply):
    with pytest.raises(wire.ReplyError):
        wire.read_completions(reply)


def test_no_choices_are_no_completions():
    assert wire.read_completions({"choices": None}) == wire.read_completions({"choices": []}) == []


def test_an_empty_system_text_is_left_out():
    assert wire.chat_fields(Prompt("", "u")) == {"messages": [{"role": "user", "content": "u"}]}


@pytest.mark.parametrize(
    ("status", "message", "is_too_long"),
    [
        (400, "This model's maximum context length is 4096 tokens", True),
        (400, "code: context_length_exceeded", True),
        (400, "The input token count (5) exceeds the maximum number of tokens allowed (4)", True),
        (400, "temperature must be below 2", False),
        (500, "context length", False),
    ],
)
def test_refusals_for_length(status, message, is_too_long):
    assert wire.is_prompt_too_long(status, message) is is_too_long
