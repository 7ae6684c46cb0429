"""What goes wrong between client and server."""

import gzip
import json

from tests.engines.api.playing import LOST, RETRIED, Situation, body_of, drip, ok, redirect

SITUATIONS = [
    Situation(
        "HTML in place of JSON, once",
        [lambda h, body: h.send(200, b"<html>welcome</html>", kind="text/html"), ok()],
        RETRIED,
    ),
    Situation(
        "HTML every time",
        [lambda h, body: h.send(200, b"<html>welcome to the proxy</html>", kind="text/html")],
        (3, "<html>welcome to the proxy"),
    ),
    Situation(
        "JSON cut in half, once",
        [lambda h, body: h.send(200, json.dumps(ok()).encode()[:-9]), ok()],
        LOST,
    ),
    Situation(
        "the connection reset, once",
        [lambda h, body: h.answer("reset", body), ok()],
        LOST,
    ),
    Situation("no server at all", [], (0, "Does a server listen there"), is_there=False),
    Situation("JSON that is called text/plain", [body_of(ok(), kind="text/plain")], (1, "answered")),
    Situation("JSON that is called HTML", [body_of(ok(), kind="text/html")], (1, "answered")),
    Situation("an empty body, every time", [lambda h, body: h.send(200, b"")], (3, "broken reply")),
    Situation("status 204, every time", [lambda h, body: h.send(204, b"")], (3, "broken reply")),
    Situation("bytes that are not UTF-8, once", [body_of(ok(), old=b"42", new=b"\xff\xfe"), ok()], LOST),
    Situation("JSON nested too deeply, once", [lambda h, body: h.send(200, b"[" * 100_000), ok()], LOST),
    Situation(
        "damaged compression, once",
        [
            lambda h, body: h.send(
                200,
                gzip.compress(json.dumps(ok()).encode())[:-12] + b"x" * 12,
                headers={"Content-Encoding": "gzip"},
            ),
            ok(),
        ],
        LOST,
    ),
    Situation("fewer bytes than announced, once", [lambda h, body: h.answer("short body", body), ok()], LOST),
    Situation("a connection closed without a word, once", [lambda h, body: h.hang_up(), ok()], LOST),
    Situation(
        "a first line that is not HTTP, once", [lambda h, body: h.hang_up(b"HELLO\r\n\r\n"), ok()], LOST
    ),
    Situation("a reply that comes too slowly, once", [drip, ok()], LOST, {"timeout_seconds": 0.4}),
    Situation(
        "a redirection that keeps the method, once", [redirect(307, "/v2/chat/completions"), ok()], RETRIED
    ),
    Situation(
        "a redirection loop",
        [redirect(307, "/v1/chat/completions")],
        (21, "connection lost: TooManyRedirects"),
        {"max_retries": 0},
    ),
    Situation("a redirection without an address", [lambda h, body: h.send(302, b"")], (1, "engine.base_url")),
]
