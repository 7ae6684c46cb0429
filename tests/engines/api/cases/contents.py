"""Answers of odd shapes, thoughts beside them, and what their usage says."""

from tests.engines.api.playing import RETRIED, USAGE, Situation, choice, ok

THOUGHT = "the answer is 42, since 6 times 7 is 42"
THINKS = {"reasoning_end": "</think>"}
NO_N = {"supports_n": False}
QUESTION = "How much is six times seven, in two digits?"


def echo(handler, body):
    """The prompt and the answer in one text."""
    handler.reply(200, ok({"index": 0, "finish_reason": "stop", "text": f"{body['prompt']} 42"}))


SITUATIONS = [
    Situation(
        "an unknown finish reason",
        [ok(choice(reason="banana"))],
        (1, "answered, unknown_finish_reasons ['banana']"),
    ),
    Situation("finish reason eos_token", [ok(choice(reason="eos_token"))], (1, "answered")),
    Situation("finish reason MAX_TOKENS", [ok(choice("4", "MAX_TOKENS"))], (1, "truncated")),
    Situation("finish reason content_filter", [ok(choice(None, "content_filter"))], (1, "blocked")),
    Situation(
        "content as a list of thoughts and text",
        [ok(choice([{"type": "thinking", "thinking": [{"text": THOUGHT}]}, {"type": "text", "text": "42"}]))],
        (1, "answered"),
    ),
    Situation(
        "text with thoughts beside it",
        [
            ok(choice(reasoning_content=THOUGHT))
            | {"usage": USAGE | {"completion_tokens_details": {"reasoning_tokens": 4}}}
        ],
        (1, "answered, reasoning_tokens 4"),
    ),
    Situation(
        "thoughts that reach the limit, no text",
        [ok(choice(None, "length", reasoning_content=THOUGHT))],
        (1, "truncated, thoughts_only_sequences 1"),
    ),
    Situation(
        "thoughts and a natural end, no text, every time",
        [ok(choice(None, reasoning=THOUGHT))],
        (1, "thoughts only"),
    ),
    Situation("an empty text, every time", [ok(choice(""))], (1, "without any text")),
    Situation("content that is a number", [ok(choice(42))], (1, "does not know how to read")),
    Situation(
        "a chunk of unknown type",
        [ok(choice([{"type": "audio", "data": "..."}]))],
        (1, "does not know how to read"),
    ),
    Situation("half an emoji in the text", [ok(choice("42 \ud83d"))], (1, "answered")),
    Situation("fewer choices than asked", [ok(), ok()], RETRIED, num_samples=2),
    Situation(
        "no usage in the reply",
        [{"choices": [choice()]}],
        (1, "answered, self_counted_requests 1"),
    ),
    Situation("a blank text, every time", [ok(choice(" \n"))], (1, "without any text")),
    Situation(
        "a tool call and no text, every time",
        [ok(choice(None, "tool_calls", tool_calls=[{"id": "1"}]))],
        (1, "without any text"),
    ),
    Situation("one empty answer of two", [ok(choice(""), choice())], (1, "answered"), num_samples=2),
    Situation(
        "a choice without a message",
        [ok({"index": 0, "finish_reason": "stop"})],
        (1, "does not know how to read"),
    ),
    Situation(
        "a message that is a string",
        [ok({"index": 0, "finish_reason": "stop", "message": "42"})],
        (1, "does not know how to read"),
    ),
    Situation(
        "a stream's delta in a plain reply",
        [ok({"index": 0, "finish_reason": "stop", "delta": {"content": "42"}})],
        (1, "does not know how to read"),
    ),
    Situation(
        "content that is a chunk outside a list",
        [ok(choice({"type": "text", "text": "42"}))],
        (1, "does not know how to read"),
    ),
    Situation(
        "a finish reason that is an object",
        [ok(choice(reason={"type": "end"}))],
        (1, r"""answered, unknown_finish_reasons ["{'type': 'end'}"]"""),
    ),
    Situation(
        "thoughts beside the text, for a thinking backbone",
        [ok(choice(reasoning_content=THOUGHT))],
        (1, "answered after thoughts"),
        backbone=THINKS,
    ),
    Situation(
        "thoughts counted but not shown, for a thinking backbone",
        [ok(choice()) | {"usage": USAGE | {"completion_tokens_details": {"reasoning_tokens": 4}}}],
        (1, "answered after thoughts, reasoning_tokens 4"),
        backbone=THINKS,
    ),
    Situation(
        "neither thoughts nor their end, for a thinking backbone, every time",
        [ok()],
        (1, "without any text after backbone.reasoning_end"),
        backbone=THINKS,
    ),
    Situation(
        "a reply that names another model",
        [ok() | {"model": "other/model"}],
        (1, "answered, served_models ['other/model']"),
    ),
    Situation(
        "a prompt that is echoed before its completion",
        [echo],
        (1, "answered, echoed_prompts 1"),
        backbone={"chat_template": "none"},
    ),
    Situation(
        "a prompt that is echoed and not answered, every time",
        [lambda h, body: h.reply(200, ok({"text": body["prompt"], "finish_reason": "stop"}))],
        (1, "without any text"),
        backbone={"chat_template": "none"},
    ),
    Situation(
        "a message that is echoed before its answer",
        [ok(choice(f"{QUESTION} 42"))],
        (1, "answered, echoed_prompts 1"),
        prompt=QUESTION,
    ),
    Situation(
        "text after a stop string, up to the limit",
        [ok(choice("42\n\nQuestion: 2+2\n4", "length"))],
        (1, "answered, ignored_stops 1"),
        sampling={"stop": ("\n\n",)},
    ),
    *(
        Situation(f"{name} to each of three calls", replies, (3, outcome), NO_N, num_samples=3)
        for name, replies, outcome in (
            ("one reply", [ok(id="r1")], "answered, repeated_replies 2"),
            ("one text, under an id of its own,", [ok(id="r1"), ok(id="r2"), ok(id="r3")], "answered"),
            ("one text without an id", [ok(id="")], "answered"),
            ("another text under one id", [ok(choice(text), id="r") for text in "123"], "answered"),
        )
    ),
    Situation(
        "usage as strings",
        [ok() | {"usage": {"prompt_tokens": "11", "completion_tokens": "5"}}],
        (1, "answered"),
    ),
    *(
        Situation(f"usage {name}", [ok() | {"usage": usage}], (1, "answered, self_counted_requests 1"))
        for name, usage in (
            ("below zero", {"prompt_tokens": -11, "completion_tokens": -5}),
            ("of zero tokens", {"prompt_tokens": 0, "completion_tokens": 0}),
            ("without completion_tokens", {"prompt_tokens": 11}),
            ("with completion_tokens null", {"prompt_tokens": 11, "completion_tokens": None}),
            ("that is a list", [11, 5]),
            ("that is not a number", {"prompt_tokens": float("nan"), "completion_tokens": "many"}),
        )
    ),
    Situation(
        "usage details that are not objects",
        [ok() | {"usage": USAGE | {"prompt_tokens_details": [1], "completion_tokens_details": "none"}}],
        (1, "answered"),
    ),
]
