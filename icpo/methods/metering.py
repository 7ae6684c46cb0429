"""Counts what a solving draws."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from icpo.types import (
    Batches,
    Completion,
    FinishReason,
    Purpose,
    QuestionResult,
    SampleRequest,
    Solving,
    Usage,
)


def metered(solving: Solving) -> Solving:
    """The same solving, its result carrying what it cost, and what it had cost at each set of finals.

    The cost at a set of finals is that of a run that ends there: all that is not a final so far, and these
    finals. Where there is but one set, that is all that was drawn, also what a method draws as finals on its
    way: the ends of several trees, samples shared with the base. Where several sets are not drawn as finals
    one after another, their costs cannot be told apart and none is given.
    """
    total, without_finals = Usage(), Usage()
    at_finals: list[Usage] = []
    answers: Batches | None = None
    was_refused = False
    while True:
        try:
            requests = next(solving) if answers is None else solving.send(answers)
        except StopIteration as stop:
            result: QuestionResult = stop.value
            at = [total] if len(result.finals) == 1 else at_finals
            are_told_apart = len(at) == len(result.finals)
            return replace(result, usage=total, usage_at_finals=tuple(at) if are_told_apart else ())
        answers = yield requests
        are_finals = any(request.purpose is Purpose.FINAL for request in requests)
        here = at_finals.pop() if are_finals and was_refused else without_finals
        was_refused = False
        for request, completions in zip(requests, answers, strict=True):
            total = add_usage(total, request, completions)
            here = add_usage(here, request, completions)
            if request.purpose is Purpose.FINAL:
                was_refused = all(c.finish_reason is FinishReason.PROMPT_TOO_LONG for c in completions)
        if are_finals:
            at_finals.append(here)
        else:
            without_finals = here


def add_usage(usage: Usage, request: SampleRequest, completions: Sequence[Completion]) -> Usage:
    """The usage with one answered request added; a request's prompt is counted once."""
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


def _count(completions: Sequence[Completion], reason: FinishReason) -> int:
    return sum(c.finish_reason is reason for c in completions)


def _plus(counts: Mapping[str, int], key: str, number: int) -> dict[str, int]:
    return {**counts, key: counts.get(key, 0) + number} if number else dict(counts)
