"""The cost of a question, counted by an observer."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from icpo.types import (
    Batches,
    Completion,
    FinishReason,
    Observer,
    Purpose,
    QuestionResult,
    SampleRequest,
    Usage,
)


class Meter(Observer):
    """Adds its costs to the result.

    Also what it had cost at each set of final samples. The cost at a set of final samples is that of a run
    that ends there: all other samples so far, and these final samples. With a single set it is all that was
    sampled, also what a method samples as finals on its way: the ends of several trees, samples shared with
    the base. Where several sets are not sampled one after another, their costs cannot be separated and none
    is given.
    """

    def __init__(self) -> None:
        self._total, self._without_finals = Usage(), Usage()
        self._at_finals: list[Usage] = []
        self._was_refused = False

    def completed(self, requests: list[SampleRequest], batches: Batches) -> None:
        """Count a stage."""
        are_finals = any(request.purpose is Purpose.FINAL for request in requests)
        here = self._at_finals.pop() if are_finals and self._was_refused else self._without_finals
        self._was_refused = False
        for request, completions in zip(requests, batches, strict=True):
            self._total = add_usage(self._total, request, completions)
            here = add_usage(here, request, completions)
            if request.purpose is Purpose.FINAL:
                self._was_refused = all(c.finish_reason is FinishReason.PROMPT_TOO_LONG for c in completions)
        if are_finals:
            self._at_finals.append(here)
        else:
            self._without_finals = here

    def returned(self, result: QuestionResult) -> QuestionResult:
        """The result with its cost."""
        at = [self._total] if len(result.finals) == 1 else self._at_finals
        are_apart = len(at) == len(result.finals)
        return replace(result, usage=self._total, usage_at_finals=tuple(at) if are_apart else ())


def add_usage(usage: Usage, request: SampleRequest, completions: Sequence[Completion]) -> Usage:
    """The usage with one request added, its prompt counted once."""
    purpose = request.purpose.value
    generated = sum(c.num_completion_tokens for c in completions)
    cached = max((c.num_cached_tokens for c in completions), default=0)
    too_long = _count(completions, FinishReason.PROMPT_TOO_LONG)
    return Usage(
        num_requests=usage.num_requests + 1,
        num_sequences=usage.num_sequences + len(completions),
        prompt_tokens=usage.prompt_tokens + max((c.num_prompt_tokens for c in completions), default=0),
        cached_prompt_tokens=usage.cached_prompt_tokens + cached,
        generated_tokens=usage.generated_tokens + generated,
        generated_by_purpose=_plus(usage.generated_by_purpose, purpose, generated),
        truncated_by_purpose=_plus(
            usage.truncated_by_purpose, purpose, _count(completions, FinishReason.LENGTH)
        ),
        too_long_by_purpose=_plus(usage.too_long_by_purpose, purpose, too_long),
    )


def sum_usage(one: Usage, other: Usage) -> Usage:
    """What two parts of a result cost together."""

    def total(name: str) -> Any:
        a, b = getattr(one, name), getattr(other, name)
        return {**a, **{key: a.get(key, 0) + n for key, n in b.items()}} if isinstance(a, Mapping) else a + b

    return Usage(**{field.name: total(field.name) for field in fields(Usage)})


def _count(completions: Sequence[Completion], reason: FinishReason) -> int:
    return sum(c.finish_reason is reason for c in completions)


def _plus(counts: Mapping[str, int], key: str, number: int) -> dict[str, int]:
    return {**counts, key: counts.get(key, 0) + number} if number else dict(counts)
