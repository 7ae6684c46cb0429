"""One call by the openai package, streamed or not."""

import json
from types import ModuleType
from typing import Any

from icpo.engines.api.faults import ErrorInside, ReplyError, first_words
from icpo.engines.api.replies import Json

TEXTS = ("content", "reasoning_content", "reasoning", "refusal", "text")


async def send(openai: ModuleType, client: Any, body: Json, headers: dict[str, str]) -> object:
    """The reply to a body. Raises ErrorInside, ReplyError, the package's errors."""
    path = "/chat/completions" if "messages" in body else "/completions"
    options: Any = {"cast_to": object, "body": body, "options": {"headers": headers}}
    if not body.get("stream"):
        given = await client.post(path, **options)
        return parsed(given) if isinstance(given, str) else given
    kind = openai.AsyncStream[object]
    try:
        async with await client.post(path, **options, stream=True, stream_cls=kind) as stream:
            return await assembled(stream)
    except openai.APIError as error:
        if isinstance(error, openai.APIStatusError) or error.body is None:  # a refusal, or no connection
            raise
        raise ErrorInside(error.body) from None


async def assembled(stream: Any) -> object:
    """The pieces of each choice joined; a whole body as is.

    An error among the chunks, and whatever else they hold, is kept for `read_reply`.
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
            _add(choices.setdefault(index, {"index": index, "message": {"content": []}}), piece)
    return whole | {"choices": list(choices.values())}


def parsed(body: str) -> object:
    """JSON whatever the server calls it; text where it is none."""
    try:
        return json.loads(body)
    except ValueError:
        return body


def _add(choice: Json, piece: Json) -> None:
    """Adds a piece to its choice, whose texts are lists of pieces."""
    choice["finish_reason"] = piece.get("finish_reason") or choice.get("finish_reason")
    new = piece.get("delta", piece.get("message", piece))
    if not isinstance(new, dict | None):
        raise ReplyError("a chunk of unknown kind", first_words(piece))
    for name in TEXTS:
        if given := (new or {}).get(name):
            choice["message"].setdefault(name, []).extend(given if isinstance(given, list) else [given])
