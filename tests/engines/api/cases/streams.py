"""Answers that are streamed."""

import json

from tests.engines.api.playing import LOST, RETRIED, USAGE, Situation, body_of, delta, ok, stream

END = {"choices": [], "usage": USAGE}
WHOLE_TEXT = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (delta("stop", content="42"), END))
MESSAGE = {"choices": [{"index": 0, "message": {"content": "42"}, "finish_reason": "stop"}]}
INDEXED = {"choices": [{"index": "0", "delta": {"content": "42"}, "finish_reason": "stop"}]}
HALVES = (delta(content="42 \ud83d"), delta("stop", content="\ude00"))


def events(text, kind="text/event-stream"):
    """Server-sent events as they are."""
    return body_of(text, kind=kind)


WHOLE = events(WHOLE_TEXT)


def part(index, reason=None):
    return {"choices": [{"index": index, "delta": {"content": "42"}, "finish_reason": reason}]}


def bare(content, reason=None):
    """A piece that does not say whose it is."""
    return {"choices": [{"delta": {"content": content}, "finish_reason": reason}]}


ONE_BY_ONE = (bare("4"), bare("2", "stop"), bare("4"), bare("3", "stop"))
IN_TURN = (bare("4"), bare("4"), bare("2", "stop"), bare("", "stop"))
NULLS = (part(0, "null"), part(1, "null"), part(0, "null"), part(1, "stop"), part(0, "stop"))
PAIR = (part(0), part(1), part(0, "stop"), part(1, "stop"))


def cut(handler, body):
    """A stream whose connection ends in an answer."""
    handler.send(200, WHOLE_TEXT[:40].encode(), kind="text/event-stream", missing=50)


SITUATIONS = [
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
    *(
        Situation(f"a stream {name}", replies, wanted, {"stream": True}, num_samples=num_samples)
        for name, replies, wanted, num_samples in (
            (
                "without an end mark",
                [stream(delta("stop", content="42"), END, done=False)],
                (1, "answered"),
                1,
            ),
            ("that breaks off, once", [cut, WHOLE], LOST, 1),
            ("of nothing, every time", [stream()], (3, "no choices"), 1),
            ("of broken JSON, once", [events('data: {"choices": [\n\n'), WHOLE], LOST, 1),
            ("of another kind of chunks, every time", [stream([1])], (3, "a chunk that is not an object"), 1),
            (
                "with choices of another kind",
                [stream({"choices": ["42"]})],
                (3, "a chunk of unknown kind"),
                1,
            ),
            (
                "whose deltas are strings",
                [stream({"choices": [{"delta": "42"}]})],
                (3, "a chunk of unknown kind"),
                1,
            ),
            (
                "with a piece after an answer's end",
                [stream(delta("stop", content="42"), delta(), END)],
                (1, "answered"),
                1,
            ),
            ("of whole messages", [stream(MESSAGE, END)], (1, "answered"), 1),
            ("of chunks of text", [stream(delta("stop", content={"text": "42"}), END)], (1, "answered"), 1),
            ("of numbers", [stream(delta("stop", content=42), END)], (1, "does not know how to read"), 1),
            ("with an index that is a string", [stream(INDEXED, END)], (1, "answered"), 1),
            ("with half an emoji in each of two chunks", [stream(*HALVES, END)], (1, "answered"), 1),
            (
                "with one answer of two unfinished, once",
                [stream(*PAIR[:3], done=False), stream(*PAIR, END)],
                LOST,
                2,
            ),
            ("of two answers without an index", [stream(*ONE_BY_ONE, END)], (1, "supports_n=false"), 2),
            ("of two mixed answers without an index", [stream(*IN_TURN, END)], (1, "supports_n=false"), 2),
            (
                "of two answers of one index",
                [stream(part(0, "stop"), MESSAGE, END)],
                (1, "supports_n=false"),
                2,
            ),
            ("of one answer of two, without an index, once", [stream(*ONE_BY_ONE[:2], END)], RETRIED, 2),
            ("of an answer without an index", [stream(*ONE_BY_ONE[:2], END)], (1, "answered"), 1),
            ("with one answer of two, once", [WHOLE, WHOLE], RETRIED, 2),
            ("with an error that is a string", [stream({"error": "boom"})], (3, "status 500: boom"), 1),
            (
                "with a refused key",
                [stream({"error": {"code": 401, "message": "no"}})],
                (1, "api_key_env"),
                1,
            ),
            (
                "with an error event",
                [events('event: error\ndata: {"message": "busy"}\n\n')],
                (3, "no choices.*busy"),
                1,
            ),
        )
    ),
    *(
        Situation(f"where a stream was asked for, {name}", [reply], wanted, {"stream": True})
        for name, reply, wanted in (
            ("a whole reply", ok(), (1, "answered")),
            ("a page of HTML", body_of("<html>welcome", kind="text/html"), (3, "no JSON: <html>welcome")),
            ("an error in a whole reply", {"error": {"code": 401}}, (1, "api_key_env")),
            ("a stream called text/plain", events(WHOLE_TEXT, "text/plain"), (1, "answered")),
        )
    ),
]
