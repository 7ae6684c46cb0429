"""One call by the openai package, streamed or not."""

import json
from types import ModuleType
from typing import Any

from icpo.engines.api.faults import ErrorInside, ReplyError, UnknownShape, first_words
from icpo.engines.api.replies import UNFINISHED, Json

TEXTS = ("content", "reasoning_content", "reasoning", "refusal", "text")
MIXED = (
    "a stream in which an answer goes on after its end, as where pieces of several name no index "
    "(engine.supports_n=false asks for one at a time)"
)


async def send(openai: ModuleType, client: Any, body: Json, headers: dict[str, str]) -> object:
    """The reply to a body. Raises ErrorInside, ReplyError, UnknownShape, the package's errors."""
    path = "/chat/completions" if "messages" in body else "/completions"
    options: Any = {"cast_to": object, "body": body, "options": {"headers": headers}}
    if not body.get("stream"):
        given = await client.post(path, **options)
        return parsed(given) if isinstance(given, str) else given
    kind = openai.AsyncStream[object]
    try:
        async with await client.post(path, **options, stream=True, stream_cls=kind) as stream:
            return await assembled(stream, is_one=body.get("n", 1) == 1)
    except openai.APIError as error:
        if isinstance(error, openai.APIStatusError) or error.body is None:  # a refusal, or no connection
            raise
        raise ErrorInside(error.body) from None


async def assembled(stream: Any, *, is_one: bool) -> object:
    """The pieces of each choice joined; a whole body as is.

    Where more than one was asked for and a choice goes on after its end, pieces of several may be mixed:
    UnknownShape. An error among the chunks, and whatever else they hold, is kept for `read_reply`.
    """
    if any(kind in stream.response.headers.get("content-type", "") for kind in ("json", "html")):
        return parsed((await stream.response.aread()).decode("utf-8", "replace"))
    choices: dict[str, Json] = {}
    whole: Json = {}
    async for chunk in stream:
        if not isinstance(chunk, dict):
            raise ReplyError("a chunk that is not an object", first_words(chunk))
        whole |= {key: value for key, value in chunk.items() if value is not None}
        pieces = chunk.get("choices") or []
        if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
            raise ReplyError("a chunk of unknown kind", first_words(chunk))
        for piece in pieces:
            index = str(piece.get("index") or 0)
            choice = choices.setdefault(index, {"index": index, "message": {"content": []}})
            had_ended = _is_end(choice.get("finish_reason"))
            if _add(choice, piece) and had_ended and not is_one:
                raise UnknownShape(MIXED)
    return whole | {"choices": list(choices.values())}


def parsed(body: str) -> object:
    """JSON whatever the server calls it; text where it is none."""
    try:
        return json.loads(body)
    except ValueError:
        return body


def _add(choice: Json, piece: Json) -> bool:
    """Adds a piece to its choice, whose texts are lists of pieces; whether there was a text or an end."""
    choice["finish_reason"] = piece.get("finish_reason") or choice.get("finish_reason")
    new = piece.get("delta", piece.get("message", piece))
    if not isinstance(new, dict | None):
        raise ReplyError("a chunk of unknown kind", first_words(piece))
    texts = {name: given for name in TEXTS if (given := (new or {}).get(name))}
    for name, given in texts.items():
        choice["message"].setdefault(name, []).extend(given if isinstance(given, list) else [given])
    return bool(texts) or _is_end(piece.get("finish_reason"))


def _is_end(reason: object) -> bool:
    """Whether a finish reason says that an answer has ended; some servers write "null" beside each piece."""
    return str(reason).lower() not in UNFINISHED
