"""What a server's refusal means, and the numbers in its wording."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from enum import Enum

RETRIED_STATUS = (408, 409, 425, 429)


class Verdict(Enum):
    """What follows from a refusal."""

    RETRY = "retry"
    TOO_LONG = "too long"
    BLOCKED = "blocked"
    FINAL = "final"


_RATE = re.compile(r"per (second|minute|hour|day)|\bTP[MD]\b|\bRP[MD]\b|rate.?limit", re.IGNORECASE)
_TOO_LONG = re.compile(  # as OpenAI, vLLM, SGLang, llama.cpp, TGI, OpenRouter, Ollama, LM Studio, Gemini say
    r"context.?(length|window|size|limit)|max_new_tokens|maximum (number of )?(input )?tokens"
    r"|max(imum)? length|(prompt|input) (is )?too long|token limit|too many tokens|input token count"
    r"|maximum (allowed|model|input|prompt) (input )?length|reduce (the|your) (length|prompt)"
    r"|range of input length",
    re.IGNORECASE,
)
_BLOCKED = re.compile(
    r"content.?filter|content management policy|ResponsibleAIPolicy|data.?inspection.?failed"
    r"|input was flagged|flagged as|content.?policy.?violation|prohibited_content|safety system"
    r"|requires moderation",
    re.IGNORECASE,
)
_PROMPT_TOKENS = re.compile(
    r"(\d+) (?:input tokens|tokens from the input|in (?:the messages|your prompt|the prompt)|of text input)"
    r"|resulted in (\d+) tokens|input token count \((\d+)\)|Given: (\d+) `inputs`|[Ii]nput \((\d+) tokens\)"
    r"|n_prompt_tokens\D{1,4}(\d+)|request \((\d+) tokens\)|keep the first (\d+) tokens|n_keep: (\d+)"
    r"|[Pp]rompt (?:contains|has) (\d+) tokens|[Ii]nput length \(?(\d+)"
)
_CONTEXT = re.compile(
    r"(?:context length (?:is|of)(?: only)?|context size|context length \(|must be <=|n_ctx\D{1,4}"
    r"|number of tokens allowed \(|model length of)\s*\(?(\d+)"
)
_VAGUE = re.compile(r"at least \d+ input|requested about", re.IGNORECASE)
_WAYS_OUT = (  # the first that fits; words of the message, or a status
    (r"temperature", "Set its temperature to null under protocol.sampling: the server then takes its own."),
    (r"top_p", "Set its top_p to null under protocol.sampling: the server then takes its own."),
    (r"(use|support).{0,20}max_completion_tokens", "Set engine.max_tokens_field=max_completion_tokens."),
    (
        r"max_\w*tokens|completion tokens",
        "Set backbone.max_answer_tokens to what the server allows, or max_tokens under protocol.sampling.",
    ),
    (r"system.{0,20}(role|message|instruction)", "Set backbone.system_role=false."),
    (r"\bstream", "Set engine.stream=true if the model is served by streaming only."),
    (r"\bn\b\W{1,6}(must|should|is|parameter|msg)", "Set engine.supports_n=false, or engine.max_n."),
    (r"\bseed\b", "Set engine.supports_seed=false."),
    (r"^401\b", "Check the key in the environment variable that engine.api_key_env names."),
    (r"^402\b|quota|credit", "Check the account's limits."),
    (r"^403\b", "Check that the key may use this model."),
    (r"^(3\d\d|404|405)\b", "Check backbone.model_id and engine.base_url."),
    (r"", "Check the engine's settings and the account's limits."),
)


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths in a refusal: the prompt's tokens and the server's context.

    None where it does not say. `is_exact` is false for an estimate or a lower bound.
    """

    prompt: int | None
    context: int | None
    is_exact: bool


def verdict(status: int, message: str) -> Verdict:
    """What follows from a refusal of this status and text."""
    if "insufficient_quota" in message or status == 402:
        return Verdict.FINAL
    if status != 429 and "exceed_context_size" in message:  # llama.cpp gave it a status of 500 at first
        return Verdict.TOO_LONG
    if status in (400, 413, 422) and _TOO_LONG.search(message) and not _RATE.search(message):
        return Verdict.TOO_LONG
    if status in (400, 403, 422, 451) and _BLOCKED.search(message):
        return Verdict.BLOCKED
    is_rate = status == 413 and _RATE.search(message) is not None
    return Verdict.RETRY if is_rate or status in RETRIED_STATUS or status >= 500 else Verdict.FINAL


def lengths_in(message: str) -> Lengths:
    """The lengths that a refusal of a long prompt names."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", message)
    prompt, context = _PROMPT_TOKENS.search(plain), _CONTEXT.search(plain)
    return Lengths(
        int(next(group for group in prompt.groups() if group)) if prompt else None,
        int(context.group(1)) if context else None,
        _VAGUE.search(plain) is None,
    )


def way_out(status: int, message: str) -> str:
    """What to do about a refusal that no retry changes."""
    text = f"{status} {message}"
    return next(advice for words, advice in _WAYS_OUT if re.search(words, text, re.IGNORECASE))


def retry_after_seconds(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds a server asks to wait; None where it does not say."""
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
