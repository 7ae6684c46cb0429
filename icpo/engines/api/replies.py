"""What a server's reply means: completions, usage, and what a status of 200 hides; pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icpo.types import FinishReason

Json = dict[str, Any]

STOP, LENGTH, FILTERED = FinishReason.STOP, FinishReason.LENGTH, FinishReason.CONTENT_FILTER
FINISH_REASONS = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"), STOP),
    **dict.fromkeys(("length", "max_tokens", "model_length", "max_output_tokens"), LENGTH),
    **dict.fromkeys(
        ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "refusal"), FILTERED
    ),
}
UNFINISHED = ("none", "null", "", "error", "abort", "aborted", "cancelled", "load")
STATUS_OF_WORD = {  # of an error without a number
    "rate_limit": 429,
    "quota": 402,
    "overloaded": 503,
    "unavailable": 503,
    "invalid_request": 400,
    "context_length": 400,
    "context_size": 400,
    "content_filter": 400,
    "authentication": 401,
    "permission": 403,
    "not_found": 404,
}
SHOWN_CHARACTERS = 120


class ReplyError(Exception):
    """A reply that is not what its status promised; the next one may be. `kind` is a few words."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind


class ErrorInside(Exception):
    """An error that a server reports inside a reply of status 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class UnknownShape(Exception):
    """Content that is neither text nor chunks of text: no retry changes that."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: its text, the length of its thoughts in characters, and why it ended.

    `word` is the server's own name for the end where we know none.
    """

    text: str
    num_thought_characters: int
    finish_reason: FinishReason
    word: str | None = None

    @property
    def is_silent(self) -> bool:
        """Whether it ended by itself without a text."""
        return not self.text.strip() and self.finish_reason is STOP


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of a reply: its prompt, what of it was cached, all its completions, and the thoughts in them."""

    prompt: int
    cached: int
    completion: int
    reasoning: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The answers of one reply, in its order; `tokens` is None where it does not say."""

    choices: tuple[Choice, ...]
    tokens: TokenCounts | None


def read_reply(reply: object) -> Reply:
    """A reply's answers and usage; one choice that says it is blocked where the whole prompt is.

    Raises ErrorInside, ReplyError or UnknownShape.
    """
    if not isinstance(reply, dict):
        raise ReplyError("no JSON", first_words(reply))
    _raise_error_inside(reply)
    choices = reply.get("choices")
    if not isinstance(choices, list | None):
        raise ReplyError("no list of choices", first_words(reply))
    if not choices and _says_blocked(reply):
        return Reply((Choice("", 0, FILTERED),), token_counts(reply))
    if not choices:
        raise ReplyError("no choices", first_words(reply))
    return Reply(tuple(_choice(choice) for choice in choices), token_counts(reply))


def token_counts(reply: Mapping[str, Any]) -> TokenCounts | None:
    """The usage of a reply; None where it has none.

    Some servers leave the thoughts out of completion_tokens, but none out of the total.
    """
    given = reply.get("usage")
    if not isinstance(given, dict) or not isinstance(given.get("prompt_tokens"), int):
        return None
    prompt = given["prompt_tokens"]
    cached = (given.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    reasoning = (given.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    completion = max(given.get("completion_tokens") or 0, (given.get("total_tokens") or 0) - prompt)
    return TokenCounts(prompt, cached, completion, reasoning)


def shared(total: int, weights: Sequence[int]) -> list[int]:
    """`total` in whole parts that add up to it, as near to the weights as rounding allows."""
    if not weights:
        return []
    weights = weights if sum(weights) else [1] * len(weights)
    ends = [total * sum(weights[: i + 1]) // sum(weights) for i in range(len(weights))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def first_words(reply: object) -> str:
    """The beginning of what a server sent, on one line."""
    text = " ".join(str(reply).split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def _choice(choice: object) -> Choice:
    if not isinstance(choice, dict):
        raise ReplyError("a choice that is no object", first_words(choice))
    _raise_error_inside(choice)
    message = choice.get("message")
    text, thoughts = _text(choice.get("text")), 0
    if isinstance(message, dict):
        text, thoughts = _text(message.get("content")), _num_thoughts(message)
        text = text or _text(message.get("refusal"))
    given = choice.get("finish_reason")
    word = str(given).lower()
    if word in UNFINISHED:
        raise ReplyError("unfinished answer", f"finish_reason={given!r}")
    known = FINISH_REASONS.get(word)
    return Choice(text, thoughts, known or STOP, None if known else str(given))


def _text(content: object) -> str:
    """Text as it is, or the text chunks of a list joined; thoughts are no text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise UnknownShape(f"content that is a {type(content).__name__}: {first_words(content)}")
    return "".join(_chunks(content))


def _chunks(content: Sequence[object]) -> Iterator[str]:
    for chunk in content:
        if isinstance(chunk, str):
            yield chunk
        elif isinstance(chunk, dict) and isinstance(chunk.get("text"), str):
            yield chunk["text"]
        elif not (isinstance(chunk, dict) and ("thinking" in chunk or "reasoning" in str(chunk.get("type")))):
            raise UnknownShape(f"a chunk of content of unknown kind: {first_words(chunk)}")


def _num_thoughts(message: Mapping[str, Any]) -> int:
    """Characters that a model thought in, which servers keep under several names."""
    apart = message.get("reasoning_content") or message.get("reasoning") or ""
    content = message.get("content")
    chunks = content if isinstance(content, list) else []
    inside = [chunk.get("thinking") for chunk in chunks if isinstance(chunk, dict)]
    return len(str(apart)) + sum(len(str(thoughts)) for thoughts in inside if thoughts)


def _raise_error_inside(node: Mapping[str, Any]) -> None:
    error = node if node.get("object") == "error" else node.get("error")
    if error:
        raise ErrorInside(error_status(error), first_words(error))


def error_status(error: object) -> int:
    """The HTTP status that an error stands for; 500 where it does not say, which is retried."""
    named = [error.get(key) for key in ("code", "status", "type")] if isinstance(error, dict) else [error]
    for value in named:
        if str(value).isdigit() and 400 <= int(str(value)) < 600:
            return int(str(value))
    words = " ".join(map(str, named)).lower()
    return next((status for word, status in STATUS_OF_WORD.items() if word in words), 500)


def _says_blocked(reply: Mapping[str, Any]) -> bool:
    """Whether a reply without choices names a filter as the reason, as Gemini and Azure do."""
    feedback = reply.get("promptFeedback") or reply.get("prompt_feedback") or {}
    results = str(reply.get("prompt_filter_results") or "")
    return bool(feedback.get("blockReason") or feedback.get("block_reason")) or "'filtered': True" in results
