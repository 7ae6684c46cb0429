"""A streamed reply as the reply that it would have been at once."""

from collections.abc import AsyncIterable
from typing import Any

from icpo.engines.api.replies import Json, ReplyError, first_words

TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


async def assembled(chunks: AsyncIterable[Any]) -> Json:
    """The pieces of each choice joined; an error among the chunks is kept for `read_reply`."""
    choices: dict[int, Json] = {}
    whole: Json = {}
    async for chunk in chunks:
        if not isinstance(chunk, dict):
            raise ReplyError("a chunk that is no object", first_words(chunk))
        whole |= {key: chunk[key] for key in ("usage", "error", "promptFeedback") if chunk.get(key)}
        for piece in chunk.get("choices") or ():
            choice = choices.setdefault(piece.get("index") or 0, {"finish_reason": None})
            choice["finish_reason"] = piece.get("finish_reason") or choice["finish_reason"]
            _add(choice, piece)
    return whole | {"choices": [choices[index] for index in sorted(choices)]}


def _add(choice: Json, piece: Json) -> None:
    if "text" in piece:
        choice["text"] = choice.get("text", "") + (piece["text"] or "")
        return
    message = choice.setdefault("message", {})
    for name in TEXTS:
        if given := (piece.get("delta") or {}).get(name):
            before = message.get(name) or type(given)()
            message[name] = before + given if isinstance(before, type(given)) else [*before, given]
