"""One request to a server on loopback that behaves as a real one may, and what came of it."""

import json
import os
import re
import time
from collections import Counter
from dataclasses import dataclass, field, replace

from icpo.backbones import Backbone
from icpo.engines.api.settings import OpenAISettings
from icpo.errors import IcpoError
from icpo.types import FinishReason, Prompt, Purpose, SampleRequest
from tests.engines.openai_server import Server
from tests.sampling import sampling_of

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


def body_of(reply, kind="application/json", old=b"", new=b""):
    """A reply of status 200 under another content type, or with other bytes in it; a text as it is."""
    data = (
        (reply if isinstance(reply, str) else json.dumps(reply)).encode().replace(old, new, 1 if old else 0)
    )
    return lambda handler, body: handler.send(200, data, kind=kind)


def page(status):
    """A page of HTML such as proxies send."""
    return lambda handler, body: handler.send(status, f"<html>\n<h1>{status}".encode(), kind="text/html")


def retry_after(value):
    return lambda handler, body: handler.reply(429, {}, {"Retry-After": value})


def redirect(status, location):
    return lambda handler, body: handler.send(status, b"", headers={"Location": location})


def drip(handler, body):
    """A reply a byte at a time, so that no single wait is long."""
    data = json.dumps(ok()).encode()
    handler.send(200, b"", missing=len(data))
    for byte in data:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.02)


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
    prompt: str = "6*7"
    is_there: bool = True


RETRIED = (2, "answered")
LOST = (2, "answered, unconfirmed_requests 1")


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
        prompt = Prompt("be brief", situation.prompt)
        engine.submit(0, SampleRequest(Purpose.FINAL, prompt, sampling, situation.num_samples, 0))
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
    how = (
        f" with {len(text)} tokens" if set(text) == {"x"} else " after thoughts" if "</think>" in text else ""
    )
    said = {
        FinishReason.STOP: f"answered{how}",
        FinishReason.LENGTH: "truncated",
        FinishReason.CONTENT_FILTER: "blocked",
        FinishReason.PROMPT_TOO_LONG: "prompt too long",
    }[reason]
    plain = ("requests", "prompt_tokens", "generated_tokens", "cost_dollars", "blocked_requests")
    hidden = (*plain, "unconfirmed_tokens", "unconfirmed_cost_dollars")
    return ", ".join([said, *(f"{name} {value}" for name, value in account.items() if name not in hidden)])
