"""What replies and refusals mean, without a server."""

from datetime import datetime, timezone

import pytest

from icpo.engines.api.faults import ReplyError, error_status
from icpo.engines.api.refusals import Verdict, lengths_in, retry_after_seconds, verdict, way_out
from icpo.engines.api.replies import Choice, read_reply, shared, with_thoughts
from icpo.types import FinishReason, visible


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
    assert retry_after_seconds(headers, now=datetime(2026, 1, 1, tzinfo=timezone.utc)) == seconds


def test_tokens_are_shared_out_by_length_and_add_up():
    assert shared(101, [10, 30, 60]) == [10, 30, 61]
    assert shared(3, [0, 0]) == [1, 2]
    assert shared(3, []) == []


def test_thinking_is_charged_though_it_is_not_shown():
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 110}
    reply = read_reply({"choices": [{"text": "hi", "finish_reason": "length"}], "usage": usage})
    assert (reply.tokens.prompt, reply.tokens.completion) == (7, 103)


def test_choices_are_read_in_the_order_of_their_index():
    choices = [{"index": i, "text": f"sample {i}", "finish_reason": "stop"} for i in (2, 0, 1)]
    assert [choice.text for choice in read_reply({"choices": choices}).choices] == [
        "sample 0",
        "sample 1",
        "sample 2",
    ]


@pytest.mark.parametrize(
    ("message", "thoughts"),
    [
        ({"reasoning_content": "six times seven"}, "six times seven"),
        ({"reasoning": "six times seven"}, "six times seven"),
        (
            {"content": [{"type": "thinking", "thinking": [{"text": "six "}, {"text": "times seven"}]}]},
            "six times seven",
        ),
        ({"content": "42"}, ""),
    ],
)
def test_thoughts_are_read_under_the_names_that_servers_give_them(message, thoughts):
    [choice] = read_reply({"choices": [{"message": message, "finish_reason": "stop"}]}).choices
    assert choice.thoughts == thoughts


@pytest.mark.parametrize(
    ("text", "thoughts", "end", "is_hidden", "stored", "read"),
    [
        ("42", "six", "</think>", False, "six</think>42", "42"),
        ("42", "", "</think>", True, "</think>42", "42"),
        ("", "six", "</think>", False, "six", ""),
        ("six</think>42", "", "</think>", True, "six</think>42", "42"),
        ("six", "", "</think>", False, "six", ""),
        ("42", "six", None, True, "42", "42"),
    ],
)
def test_a_text_is_stored_as_the_model_writes_it_and_its_answer_is_read(
    text, thoughts, end, is_hidden, stored, read
):
    choice = Choice(text, thoughts, FinishReason.STOP)
    assert with_thoughts(choice, end, has_hidden_thoughts=is_hidden) == stored
    assert visible(stored, end) == read


@pytest.mark.parametrize("reply", [None, "<html>", [], {"choices": "none"}, {"choices": ["text"]}, 5])
def test_what_is_no_reply_is_an_error_rather_than_an_answer(reply):
    with pytest.raises(ReplyError):
        read_reply(reply)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 429}, 429),
        ({"code": "503"}, 503),
        ({"code": "rate_limit_exceeded"}, 429),
        ({"type": "overloaded_error"}, 503),
        ({"code": None, "type": "invalid_request_error"}, 400),
        ({"code": "context_length_exceeded"}, 400),
        ("quota used up", 402),
        ("boom", 500),
        ({"code": 3}, 500),
    ],
)
def test_an_error_without_a_status_has_one(error, status):
    assert error_status(error) == status


@pytest.mark.parametrize(
    ("status", "message", "wanted"),
    [
        (400, "code: context_length_exceeded", Verdict.TOO_LONG),
        (400, "temperature must be below 2", Verdict.FINAL),
        (500, "context length", Verdict.RETRY),
        (429, "tokens per minute, maximum tokens 5", Verdict.RETRY),
        (413, "tokens per minute: limit 6000, reduce your prompt", Verdict.RETRY),
        (429, "insufficient_quota", Verdict.FINAL),
        (400, "'code': 'content_filter'", Verdict.BLOCKED),
        (451, "DataInspectionFailed", Verdict.BLOCKED),
        (403, "no access", Verdict.FINAL),
        (425, "too early", Verdict.RETRY),
    ],
)
def test_verdicts(status, message, wanted):
    assert verdict(status, message) is wanted


@pytest.mark.parametrize(
    ("message", "prompt", "context", "is_exact"),
    [
        ("request (1,234 tokens) exceeds the available context size (1024 tokens)", 1234, 1024, True),
        ("'n_prompt_tokens': 90, 'n_ctx': 64", 90, 64, True),
        ("(n_keep: 4103 >= n_ctx: 4096)", 4103, 4096, True),
        ("you requested about 9 tokens (7 of text input, 2 in the output)", 7, None, False),
        ("your prompt contains at least 81 input tokens", 81, None, False),
        ("exceeded max context length by 4 tokens", None, None, True),
    ],
)
def test_lengths_in_a_refusal(message, prompt, context, is_exact):
    lengths = lengths_in(message)
    assert (lengths.prompt, lengths.context, lengths.is_exact) == (prompt, context, is_exact)


@pytest.mark.parametrize(
    ("status", "message", "setting"),
    [
        (400, "n must be 1", "supports_n"),
        (400, "unknown field seed", "supports_seed"),
        (400, "Developer instruction is not enabled; system instruction", "system_role"),
        (403, "no", "key may use"),
        (400, "what?", "engine's settings"),
    ],
)
def test_a_refusal_names_the_setting_that_helps(status, message, setting):
    assert setting in way_out(status, message)
