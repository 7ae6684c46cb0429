"""What a server's reply means: completions, usage, hidden errors."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icpo.engines.api.faults import ErrorInside, ReplyError, UnknownShape, first_words
from icpo.types import FinishReason

Json = dict[str, Any]

STOP, LENGTH, FILTERED = FinishReason.STOP, FinishReason.LENGTH, FinishReason.CONTENT_FILTER
FINISH_REASONS = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"), STOP),
    **dict.fromkeys(("length", "max_tokens", "model_length", "max_output_tokens"), LENGTH),
    **dict.fromkeys(
        ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "refusal", "sensitive"),
        FILTERED,
    ),
}
UNFINISHED = (
    *("none", "null", "", "error", "abort", "aborted", "cancelled", "load"),
    *("network_error", "insufficient_system_resource"),  # of Zhipu and DeepSeek
)
_FILTERED = re.compile(r"block_?reason': '|'filtered': True", re.IGNORECASE)  # as Gemini and Azure say it


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: text, separate thoughts, and why it ended.

    `word` is the server's own name for the end where we know none.
    """

    text: str
    thoughts: str
    finish_reason: FinishReason
    word: str | None = None


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of a reply: prompt, cached, completions, and thoughts among them."""

    prompt: int
    cached: int
    completion: int
    reasoning: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The answers of one reply by index; None for what is missing. A server gives each reply an `id`."""

    choices: tuple[Choice, ...]
    tokens: TokenCounts | None
    model: str | None = None
    id: str | None = None


def read_reply(reply: object) -> Reply:
    """A reply's answers and usage.

    Where the whole prompt is blocked, one choice that says so.

    Raises ErrorInside, ReplyError or UnknownShape.
    """
    if not isinstance(reply, dict):
        raise ReplyError("no JSON", first_words(reply))
    _raise_error_inside(reply)
    choices = reply.get("choices")
    if not isinstance(choices, list | None):
        raise ReplyError("no list of choices", first_words(reply))
    if not choices and _says_blocked(reply):
        return Reply((Choice("", "", FILTERED),), token_counts(reply))
    if not choices:
        raise ReplyError("no choices", first_words(reply))
    found = tuple(map(_choice, sorted(choices, key=lambda choice: _count(choice, "index"))))
    model, name = (text if isinstance(text := reply.get(key), str) else None for key in ("model", "id"))
    return Reply(found, token_counts(reply), model, name)


def token_counts(reply: Mapping[str, Any]) -> TokenCounts | None:
    """The usage of a reply; None where it names none.

    Some servers leave the thoughts out of completion_tokens, but none out of the total.
    """
    usage = reply.get("usage")
    prompt = _count(usage, "prompt_tokens")
    completion = max(_count(usage, "completion_tokens"), _count(usage, "total_tokens") - prompt)
    if not (prompt and completion):
        return None
    cached = _count(usage, "prompt_tokens_details", "cached_tokens")
    return TokenCounts(
        prompt, cached, completion, _count(usage, "completion_tokens_details", "reasoning_tokens")
    )


def with_thoughts(choice: Choice, reasoning_end: str | None, *, has_hidden_thoughts: bool) -> str:
    """The text as a model itself writes it: thoughts, `reasoning_end`, answer.

    So what a server's parser took apart is stored and read like the text of a local model. The answer alone
    where the model has no such mark, or where it is still in the text.
    """
    was_parsed = bool(choice.thoughts) or has_hidden_thoughts
    if reasoning_end is None or reasoning_end in choice.text or not was_parsed:
        return choice.text
    return f"{choice.thoughts}{reasoning_end}{choice.text}" if choice.text else choice.thoughts


def shared(total: int, weights: Sequence[int]) -> list[int]:
    """`total` split into whole parts in proportion to the weights."""
    if not weights:
        return []
    weights = weights if sum(weights) else [1] * len(weights)
    ends = [total * sum(weights[: i + 1]) // sum(weights) for i in range(len(weights))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _choice(choice: object) -> Choice:
    if not isinstance(choice, dict):
        raise ReplyError("a choice that is not an object", first_words(choice))
    _raise_error_inside(choice)
    given = choice.get("finish_reason")
    word = str(given).lower()
    if word in UNFINISHED:
        raise ReplyError("unfinished answer", f"finish_reason={given!r}")
    message = choice.get("message", choice if "text" in choice else None)
    if not isinstance(message, dict):
        raise UnknownShape(f"a choice without a message: {first_words(choice)}")
    texts = (_text(message.get(name)) for name in ("content", "text", "refusal"))
    known = FINISH_REASONS.get(word)
    return Choice(
        next(filter(None, texts), ""), _thoughts(message), known or STOP, None if known else str(given)
    )


def _text(content: object) -> str:
    """Text as it is, or the text chunks of a list joined; thoughts are no text."""
    if content is not None and not isinstance(content, str | list):
        raise UnknownShape(f"content that is a {type(content).__name__}: {first_words(content)}")
    chunks = [content] if isinstance(content, str) else content or []
    halves = "".join(_chunks(chunks)).encode("utf-16-le", "surrogatepass")
    return halves.decode("utf-16-le", "surrogatepass")  # two halves of a character may come in two chunks


def _chunks(content: Sequence[object]) -> Iterator[str]:
    for chunk in content:
        if isinstance(chunk, str):
            yield chunk
        elif isinstance(chunk, dict) and isinstance(chunk.get("text"), str):
            yield chunk["text"]
        elif not (isinstance(chunk, dict) and ("thinking" in chunk or "reasoning" in str(chunk.get("type")))):
            raise UnknownShape(f"a chunk of content of unknown kind: {first_words(chunk)}")


def _thoughts(message: Mapping[str, Any]) -> str:
    """What a model thought, which servers keep under several names, or among the chunks of the content."""
    content = message.get("content")
    chunks = [chunk for chunk in content if isinstance(chunk, dict)] if isinstance(content, list) else []
    apart = message.get("reasoning_content") or message.get("reasoning")
    return _words(apart) + "".join(_words(chunk.get("thinking")) for chunk in chunks)


def _words(thoughts: object) -> str:
    """All text in thoughts of whatever shape."""
    if isinstance(thoughts, dict):
        return _words(thoughts.get("text"))
    if isinstance(thoughts, list):
        return "".join(map(_words, thoughts))
    return "" if thoughts is None else str(thoughts)


def _count(node: object, *path: str) -> int:
    """The number of tokens at a path of names; 0 where there is none, or none that can be."""
    for name in path:
        node = node.get(name) if isinstance(node, dict) else None
    is_number = isinstance(node, int) or (isinstance(node, str) and node.isdecimal())
    return max(int(node), 0) if is_number else 0  # type: ignore[call-overload]


def _raise_error_inside(node: Mapping[str, Any]) -> None:
    error = node if node.get("object") == "error" else node.get("error")
    if error:
        raise ErrorInside(error)


def _says_blocked(reply: Mapping[str, Any]) -> bool:
    """Whether a reply without choices names a filter as the reason."""
    names = ("promptFeedback", "prompt_feedback", "prompt_filter_results")
    return _FILTERED.search(str([reply.get(name) for name in names])) is not None
