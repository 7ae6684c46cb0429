"""Sampling within the backbone's context: the oldest attempt leaves a history that does not fit."""

from collections.abc import Callable, Sequence

from icpo.types import Batches, Completion, Drawing, FinishReason, History, SampleRequest


def draw_fitting(
    histories: Sequence[History], request: Callable[[int, History], SampleRequest], *, num_needed: int = 0
) -> Drawing[tuple[list[History], Batches]]:
    """Send one request per history; return the histories that fitted, with their completions.

    A history whose prompt is answered `prompt_too_long` loses its oldest attempt and is asked again, until
    its newest `num_needed` are left; one that is too long even so keeps that answer, which counts as
    truncated. Nothing is yielded for no histories.
    """
    fitted = list(histories)
    answers: Batches = [[] for _ in fitted]
    waiting = list(range(len(fitted)))
    while waiting:
        drawn = yield [request(i, fitted[i]) for i in waiting]
        for i, completions in zip(waiting, drawn, strict=True):
            answers[i] = completions
        waiting = [i for i in waiting if is_too_long(answers[i]) and len(fitted[i]) > num_needed]
        for i in waiting:
            fitted[i] = fitted[i][1:]
    return fitted, answers


def is_too_long(completions: Sequence[Completion]) -> bool:
    """Whether the prompt of these completions did not fit."""
    return any(c.finish_reason is FinishReason.PROMPT_TOO_LONG for c in completions)
