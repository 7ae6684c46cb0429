"""What goes over the wire to an OpenAI-compatible server, and what its replies mean; pure functions."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from icpo.types import Completion, FinishReason, Prompt, Sampling

Json = dict[str, Any]

FINISH_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
BYTES_PER_TOKEN = 4  # only where a reply has no usage: what English text takes
_TOO_LONG = re.compile(
    r"context.?(length|window)|input token count|maximum (number of )?(input )?tokens", re.IGNORECASE
)
_PROMPT_TOKENS = re.compile(
    r"(\d+) input tokens|(\d+) in the (?:messages|prompt)"
    r"|resulted in (\d+) tokens|input token count \((\d+)\)"
)


class ReplyError(Exception):
    """A reply that is not what its status promised."""


def address(base_url: str) -> str:
    """What names a server: host, port and path of its URL, without credentials, query and closing slash."""
    parts = urlsplit(base_url)
    return f"{parts.netloc.rpartition('@')[2].lower()}{parts.path.rstrip('/')}"


def is_web_address(base_url: str) -> bool:
    """Whether a URL has a scheme that calls can be made by, and a host."""
    parts = urlsplit(base_url)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def sampling_fields(sampling: Sampling, *, with_extras: bool) -> Json:
    """Sampling as the API names it, all but the number of tokens; extras are those of vLLM's server."""
    fields: Json = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    if sampling.stop:
        fields["stop"] = list(sampling.stop)
    if with_extras:
        fields |= {"min_tokens": sampling.min_tokens, "repetition_penalty": sampling.repetition_penalty}
    return fields


def needs_extras(sampling: Sampling) -> bool:
    """Whether the sampling cannot be said in the plain API."""
    return sampling.min_tokens > 0 or sampling.repetition_penalty != 1


def chat_fields(prompt: Prompt) -> Json:
    """The prompt as messages; an empty system text is left out."""
    messages = [{"role": "user", "content": prompt.user}]
    if prompt.system:
        messages.insert(0, {"role": "system", "content": prompt.system})
    return {"messages": messages}


def read_completions(reply: object) -> list[Completion]:
    """The completions of a reply, in its order; none where it has no choices.

    A reply gives one number of completion tokens for all its choices: it is shared out by their lengths.
    Tokens that a model thought with are counted as completion tokens, as they are charged as such. Raises
    ReplyError for what is no reply.
    """
    if not isinstance(reply, dict) or not isinstance(reply.get("choices"), list | None):
        raise ReplyError(f"a {type(reply).__name__} without a list of choices")
    choices = reply.get("choices") or []
    texts = [_text(choice) for choice in choices]
    num_prompt, num_cached, num_completion = usage(reply)
    if num_completion is None:
        num_completion = sum(len(text.encode()) for text in texts) // BYTES_PER_TOKEN
    shares = _shared(num_completion, [len(text) for text in texts])
    return [
        Completion(text, num_prompt or 0, share, finish_reason(choice), num_cached)
        for choice, text, share in zip(choices, texts, shares, strict=True)
    ]


def usage(reply: Mapping[str, Any]) -> tuple[int | None, int, int | None]:
    """Tokens of the prompt, of its cached part, and of all completions; None where the reply does not say."""
    given = reply.get("usage")
    if not isinstance(given, dict) or not isinstance(given.get("prompt_tokens"), int):
        return None, 0, None
    num_prompt = given["prompt_tokens"]
    details = given.get("prompt_tokens_details") or {}
    # Some servers leave the thinking out of completion_tokens, but none out of the total.
    num_completion = max(given.get("completion_tokens") or 0, (given.get("total_tokens") or 0) - num_prompt)
    return num_prompt, details.get("cached_tokens") or 0, num_completion


def finish_reason(choice: Mapping[str, Any]) -> FinishReason:
    """Why a choice ended; a server's own name for a natural end ("eos", "end_turn") is a stop."""
    return FINISH_REASONS.get(str(choice.get("finish_reason")).lower(), FinishReason.STOP)


def _text(choice: object) -> str:
    if not isinstance(choice, dict):
        raise ReplyError(f"a choice that is a {type(choice).__name__}")
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else choice.get("text")
    return text if isinstance(text, str) else ""  # a model that thought until the limit says nothing


def _shared(total: int, weights: Sequence[int]) -> list[int]:
    """`total` in whole parts that add up to it, as near to the weights as rounding allows."""
    if not weights:
        return []
    weights = weights if sum(weights) else [1] * len(weights)
    ends = [total * sum(weights[: i + 1]) // sum(weights) for i in range(len(weights))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def is_prompt_too_long(status: int, message: str) -> bool:
    """Whether a refusal says that prompt and completion exceed the context."""
    return status in (400, 413, 422) and _TOO_LONG.search(message) is not None


def prompt_tokens_in(message: str) -> int | None:
    """How many tokens a refusal says the prompt has."""
    found = _PROMPT_TOKENS.search(message)
    return int(next(group for group in found.groups() if group)) if found else None


def retry_after_seconds(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """How long a server asks to wait: seconds, or until a date (UTC if it names no zone); None if neither."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=timezone.utc)
    return max(0.0, (until - (now or datetime.now(timezone.utc))).total_seconds())
