"""What real servers do to their clients, played by a server on loopback: `--write` puts the table into docs.

python -m tests.engines.api.situations --write
"""

import json
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from icpo.backbones import Backbone
from icpo.engines.api.settings import OpenAISettings
from icpo.errors import IcpoError
from icpo.types import FinishReason, Prompt, Purpose, SampleRequest
from tests.engines.openai_server import Server
from tests.sampling import sampling_of

PAGE = Path(__file__).parents[3] / "docs/reliability.md"
BEGIN, END = "<!-- situations -->", "<!-- end of situations -->"
KEY = "sk-very-secret-key"
BACKBONE = Backbone("m", "some/model", None, 100, "auto", "own", 1, None, 0, (), None, 0, True)
SAMPLING = sampling_of(temperature=0.6, top_p=0.95, max_tokens=20, min_room_tokens=4)
USAGE = {"prompt_tokens": 11, "completion_tokens": 5}


def settings(*urls, **changes) -> OpenAISettings:
    values = dict(
        name="openai",
        base_url=urls,
        api_key_env="ICPO_TEST_KEY",
        headers={},
        max_concurrency=4,
        requests_per_minute=None,
        timeout_seconds=5.0,
        max_retries=2,
        first_wait_seconds=0.01,
        max_wait_seconds=5.0,
        supports_n=True,
        max_n=None,
        supports_seed=False,
        supports_extras=False,
        stream=False,
        template_options_field=None,
        max_tokens_field="max_tokens",
        max_requests=None,
        max_tokens=None,
        max_cost=None,
        prompt_price=None,
        completion_price=None,
    )
    return OpenAISettings(**values | changes)


def choice(content="42", reason="stop", **message):
    return {"index": 0, "finish_reason": reason, "message": {"content": content, **message}}


def ok(*choices, **more):
    return {"choices": list(choices or [choice()]), "usage": USAGE, **more}


def error(status, message, **more):
    return (status, {"error": {"message": message, "code": status, **more}})


def stream(*chunks, done=True):
    """Server-sent events."""
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"] * done
    return lambda handler, body: handler.send(200, "".join(lines).encode(), kind="text/event-stream")


def delta(reason=None, **fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]}


@dataclass(frozen=True)
class Situation:
    """A server's replies in turn, the last one for ever, and what must come of one request of two samples.

    `wanted` is the number of calls and the outcome; an outcome that stops is a pattern of the message.
    """

    name: str
    replies: list
    wanted: tuple[int, str]
    settings: dict = field(default_factory=dict)
    backbone: dict = field(default_factory=dict)
    sampling: dict = field(default_factory=dict)
    num_samples: int = 1
    is_there: bool = True


def length(server, message, calls, outcome="answered with 10 tokens", status=400, **more):
    """A refusal for length, repeated until no more than 10 tokens are asked for."""

    def reply(handler, body):
        asked = body["max_tokens"]
        if asked <= 10 and "too long" not in outcome:
            handler.reply(200, ok(choice("x" * asked)))
        else:
            handler.reply(status, {"error": {"message": message, "code": status, **more}})

    return Situation(f"prompt and limit exceed the context: {server}", [reply], (calls, outcome))


RETRIED = (2, "answered")
LEAST = "answered with 4 tokens"
THOUGHT = "the answer is 42, since 6 times 7 is 42"

SITUATIONS = [
    Situation(
        "status 200 with choices null and an error 429 inside, once",
        [{"choices": None, "error": {"code": 429, "message": "Provider returned error"}}, ok()],
        RETRIED,
    ),
    Situation(
        "the same for ever",
        [{"choices": None, "error": {"code": 429, "message": "Provider returned error"}}],
        (3, r"failed 3 times .* status 429"),
    ),
    Situation(
        "status 200, an error whose code is a word",
        [{"error": {"code": "rate_limit_exceeded", "message": "slow down"}}, ok()],
        RETRIED,
    ),
    Situation(
        "an error inside a choice",
        [ok({**choice("", "error"), "error": {"code": 502, "message": "upstream"}}), ok()],
        RETRIED,
    ),
    Situation(
        "status 200 with a refused key inside",
        [{"error": {"code": 401, "message": "No auth credentials found"}}],
        (1, "api_key_env"),
    ),
    Situation("no choices, once", [ok() | {"choices": []}, ok()], RETRIED),
    Situation("no choices to anything", [ok() | {"choices": []}], (3, r"failed 3 times .* no choices")),
    Situation(
        "no choices, blocked as Gemini says it",
        [{"choices": None, "promptFeedback": {"blockReason": "SAFETY"}}],
        (1, "blocked"),
    ),
    Situation(
        "no choices, blocked as Azure says it",
        [
            {
                "choices": [],
                "prompt_filter_results": [{"content_filter_results": {"hate": {"filtered": True}}}],
            }
        ],
        (1, "blocked"),
    ),
    Situation("finish reason error, once", [ok(choice("", "error")), ok()], RETRIED),
    Situation("finish reason null, once", [ok(choice("4", None)), ok()], RETRIED),
    Situation("finish reason null for ever", [ok(choice("4", None))], (3, "unfinished answer")),
    Situation("finish reason abort, once", [ok(choice("4", "abort")), ok()], RETRIED),
    Situation(
        "a finish reason that nobody knows",
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
        "thoughts and a natural end, no text, to everything",
        [ok(choice(None, reasoning=THOUGHT))],
        (1, "thoughts only"),
    ),
    Situation("an empty text to everything", [ok(choice(""))], (1, "without any text")),
    Situation("content that is a number", [ok(choice(42))], (1, "does not know how to read")),
    Situation(
        "a chunk of an unknown kind",
        [ok(choice([{"type": "audio", "data": "..."}]))],
        (1, "does not know how to read"),
    ),
    Situation("half an emoji in the text", [ok(choice("42 \ud83d"))], (1, "answered")),
    Situation("fewer choices than asked", [ok(), ok()], RETRIED, num_samples=2),
    Situation(
        "a prompt refused by Azure's filter",
        [
            error(
                400,
                "The response was filtered due to the prompt triggering Azure OpenAI's content management "
                "policy.",
                innererror={"code": "ResponsibleAIPolicyViolation"},
            )
        ],
        (1, "blocked"),
    ),
    Situation(
        "a prompt refused by OpenRouter's moderation",
        [error(403, "Your chosen model requires moderation and your input was flagged")],
        (1, "blocked"),
    ),
    Situation("429, once", [error(429, "slow down"), ok()], RETRIED),
    Situation("429 for want of quota", [error(429, "insufficient_quota: check your plan")], (1, "limits")),
    Situation("402, no credit", [error(402, "Insufficient credits")], (1, "limits")),
    Situation(
        "413 for tokens per minute, once",
        [error(413, "Request too large: tokens per minute (TPM): Limit 6000, Requested 8000"), ok()],
        RETRIED,
    ),
    Situation("401", [error(401, "bad key")], (1, "api_key_env")),
    Situation("404", [error(404, "no such model")], (1, "backbone.model_id")),
    Situation("500, once", [error(500, "oops"), ok()], RETRIED),
    Situation("503 for ever", [error(503, "overloaded")], (3, r"failed 3 times .* status 503")),
    Situation(
        "Retry-After beyond what is waited for",
        [lambda handler, body: handler.reply(429, {}, {"Retry-After": "900"})],
        (1, "come back in 900 s"),
    ),
    length(
        "OpenAI",
        "This model's maximum context length is 100 tokens. However, your messages resulted in 90 tokens.",
        2,
    ),
    length(
        "vLLM",
        "This model's maximum context length is 100 tokens. However, you requested 20 output tokens "
        "and your prompt contains 90 input tokens, for a total of 110 tokens.",
        2,
    ),
    length(
        "vLLM that counts no further",
        "This model's maximum context length is 100 tokens. However, you "
        "requested 20 output tokens and your prompt contains at least 81 input tokens",
        2,
        LEAST,
    ),
    length(
        "SGLang",
        "Requested token count exceeds the model's maximum context length of 100 tokens. You "
        "requested a total of 110 tokens: 90 tokens from the input messages and 20 tokens for the "
        "completion.",
        2,
    ),
    length(
        "SGLang, no room left",
        "The input (120 tokens) is longer than the model's context length (100 tokens).",
        1,
        "prompt too long",
    ),
    length(
        "llama.cpp",
        "the request exceeds the available context size. try increasing the context size",
        2,
        type="exceed_context_size_error",
        n_prompt_tokens=90,
        n_ctx=100,
    ),
    length(
        "llama.cpp with status 500",
        "the request exceeds the available context size",
        2,
        status=500,
        type="exceed_context_size_error",
        n_prompt_tokens=90,
        n_ctx=100,
    ),
    length(
        "llama.cpp without numbers",
        "the request exceeds the available context size, try increasing it",
        2,
        LEAST,
    ),
    length(
        "TGI",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 100. Given: 90 `inputs` "
        "tokens and 20 `max_new_tokens`",
        2,
        status=422,
    ),
    length(
        "OpenRouter, with an estimate",
        "This endpoint's maximum context length is 100 tokens. However, you "
        "requested about 110 tokens (90 of text input, 20 in the output).",
        2,
        LEAST,
    ),
    length("Ollama", "prompt too long; exceeded max context length by 4 tokens", 2, LEAST),
    length(
        "LM Studio",
        "Trying to keep the first 90 tokens when context the overflows. However, the model is "
        "loaded with context length of only 100 tokens",
        2,
    ),
    length(
        "Gemini",
        "The input token count (1200) exceeds the maximum number of tokens allowed (100).",
        1,
        "prompt too long",
    ),
    length("Mistral", "Prompt contains 90 tokens, too large for model with 100 maximum context length", 2),
    length(
        "a server that names nothing",
        "Please reduce the length: context_length_exceeded",
        2,
        "prompt too long",
    ),
    Situation(
        "HTML in place of JSON, once",
        [lambda h, body: h.send(200, b"<html>welcome</html>", kind="text/html"), ok()],
        RETRIED,
    ),
    Situation(
        "HTML to everything",
        [lambda h, body: h.send(200, b"<html>welcome to the proxy</html>", kind="text/html")],
        (3, "<html>welcome to the proxy"),
    ),
    Situation(
        "JSON cut in half, once",
        [lambda h, body: h.send(200, json.dumps(ok()).encode()[:-9]), ok()],
        (2, "answered, unconfirmed_requests 1"),
    ),
    Situation(
        "the connection reset, once",
        [lambda h, body: h.answer("reset", body), ok()],
        (2, "answered, unconfirmed_requests 1"),
    ),
    Situation("no server at all", [], (0, "Does a server listen there"), is_there=False),
    Situation(
        "no usage in the reply",
        [{"choices": [choice()]}],
        (1, "answered, self_counted_requests 1"),
    ),
    Situation(
        "no usage, and a budget in dollars",
        [{"choices": [choice()]}],
        (1, "answered, unconfirmed_requests 1, self_counted_requests 1"),
        {"max_cost": 1.0, "prompt_price": 1.0, "completion_price": 1.0},
    ),
    Situation(
        "a model that takes no temperature",
        [error(400, "Unsupported value: 'temperature' does not support 0.6 with this model.")],
        (1, "temperature to null"),
    ),
    Situation(
        "the same with temperature and top_p null",
        [lambda h, b: h.reply(400, {}) if {"temperature", "top_p"} & b.keys() else h.reply(200, ok())],
        (1, "answered"),
        sampling={"temperature": None, "top_p": None},
    ),
    Situation(
        "a model that takes no max_tokens",
        [error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")],
        (1, "max_tokens_field=max_completion_tokens"),
    ),
    Situation(
        "a model without a system role",
        [error(400, "System role not supported")],
        (1, r"backbone\.system_role=false"),
    ),
    Situation(
        "the same with system_role=false",
        [lambda h, b: h.reply(200, ok()) if len(b["messages"]) == 1 else h.reply(400, {})],
        (1, "answered"),
        backbone={"system_role": False},
    ),
    Situation(
        "a model that is only streamed",
        [error(400, "This model only support stream mode, please enable the stream parameter")],
        (1, r"engine\.stream=true"),
    ),
    Situation(
        "a streamed answer",
        [stream(delta(content="4"), delta(content="2"), delta("stop"), {"choices": [], "usage": USAGE})],
        (1, "answered"),
        {"stream": True},
    ),
    Situation(
        "a stream that ends before the answer does, once",
        [stream(delta(content="4"), done=False), stream(delta("stop", content="42"), {"usage": USAGE})],
        (2, "answered, unconfirmed_requests 1"),
        {"stream": True},
    ),
    Situation(
        "an error in a stream, once",
        [
            stream(delta(content="4"), {"error": {"code": 503, "message": "overloaded"}}),
            stream(delta("stop", content="42"), {"usage": USAGE}),
        ],
        RETRIED,
        {"stream": True},
    ),
    Situation(
        "no more than two samples a call",
        [lambda h, b: h.reply(200, ok(*[choice()] * b.get("n", 1)))],
        (3, "answered"),
        {"max_n": 2},
        num_samples=5,
    ),
    Situation(
        "min_tokens asked of a server that does not know it",
        [ok()],
        (0, "supports_extras=true"),
        sampling={"min_tokens": 3},
    ),
]


def play(situation: Situation) -> tuple[int, str]:
    """The number of calls, and what came of the request."""
    os.environ["ICPO_TEST_KEY"] = KEY
    replies = list(situation.replies)

    def plan(body):
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if callable(reply):
            return reply
        status, content = reply if isinstance(reply, tuple) else (200, reply)
        return lambda handler, body: handler.reply(status, content)

    with Server(plan) as server:
        if not situation.is_there:
            server.server_close()
        engine = settings(server.base_url, **situation.settings).start(
            replace(BACKBONE, **situation.backbone), max_context_tokens=100
        )
        sampling = replace(SAMPLING, **situation.sampling)
        engine.submit(
            0, SampleRequest(Purpose.FINAL, Prompt("be brief", "6*7"), sampling, situation.num_samples, 0)
        )
        try:
            outcome = describe(wait(engine), engine.accounting())
        except IcpoError as stop:
            found = re.search(situation.wanted[1], str(stop))
            outcome = f'stopped: "{found.group() if found else stop}"'.replace(server.base_url, "SERVER")
        finally:
            engine.close()
        return len(server.requests), outcome


def wait(engine):
    """The completions of the request; a bounded loop."""
    for _ in range(60):
        if done := engine.finished():
            return done[0][1]
    raise TimeoutError("no answer")


def describe(completions, account) -> str:
    [(reason, _)] = Counter(completion.finish_reason for completion in completions).items()
    text = completions[0].text
    said = {
        FinishReason.STOP: f"answered with {len(text)} tokens" if set(text) == {"x"} else "answered",
        FinishReason.LENGTH: "truncated",
        FinishReason.CONTENT_FILTER: "blocked",
        FinishReason.PROMPT_TOO_LONG: "prompt too long",
    }[reason]
    plain = ("requests", "prompt_tokens", "generated_tokens", "cost_dollars", "blocked prompts")
    hidden = (*plain, "unconfirmed_tokens", "unconfirmed_cost_dollars")
    return ", ".join([said, *(f"{name} {value}" for name, value in account.items() if name not in hidden)])


def table(played) -> str:
    lines = [f"| {situation.name} | {calls} | {outcome} |" for situation, (calls, outcome) in played]
    return "\n".join(["| situation | calls | outcome |", "|---|---|---|", *lines])


def written(page: str, played) -> str:
    """The page with its table replaced."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table(played)}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    played = [(situation, play(situation)) for situation in SITUATIONS]
    if "--write" in sys.argv:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), played), encoding="utf-8")
    print(table(played))
