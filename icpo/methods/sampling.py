"""Steps of methods: candidates, summaries, look-aheads, final samples."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from icpo.seeding import derive_seed
from icpo.types import (
    AskLookahead,
    Attempt,
    Batches,
    Candidate,
    Completion,
    Computation,
    FinishReason,
    History,
    Lookahead,
    Looking,
    Purpose,
    Question,
    SampleRequest,
    Toolkit,
)


def sample_candidates(
    question: Question, history: History, tools: Toolkit, num_candidates: int, scope: int
) -> Computation[tuple[tuple[Candidate, ...], int]]:
    """Sample candidates (Algorithm 1, line 3).

    Returns them and how many attempts did not fit the prompt.
    """

    def request(_: int, fitted: History) -> SampleRequest:
        prompt = tools.prompts.solve(question, fitted)
        return tools.ask(Purpose.CANDIDATE, prompt, num_candidates, derive_seed(scope, "candidate"))

    [fitted], [completions] = yield from sample_fitting([history], request)
    return tools.candidates(completions, question.kind), len(history) - len(fitted)


def sample_plain(
    question: Question, tools: Toolkit, number: int, scope: int
) -> Computation[tuple[Candidate, ...]]:
    """Sample the plain prompt."""
    prompt = tools.prompts.plain(question)
    [completions] = yield [tools.ask(Purpose.CANDIDATE, prompt, number, derive_seed(scope, "sample"))]
    return tools.candidates(completions, question.kind)


def sample_summaries(
    question: Question, candidates: Sequence[Candidate], tools: Toolkit
) -> Computation[list[str]]:
    """Sample one summary of each candidate (Algorithm 1, line 5).

    Reasoning is removed. The seed depends on the candidate's text alone, so that the same text is summarised
    once.
    """
    if not candidates:
        return []
    texts = [tools.visible(candidate.completion.text) for candidate in candidates]
    sampled = yield [
        tools.ask(Purpose.SUMMARY, tools.prompts.summary(question, text), 1, derive_seed(0, "summary", text))
        for text in texts
    ]
    return [tools.visible(completion.text).strip() for [completion] in sampled]


def look_ahead(
    question: Question, history: History, attempts: Sequence[Attempt], tools: Toolkit, scope: int
) -> AskLookahead:
    """Return the function that samples look-aheads (Algorithm 1, line 6).

    The i-th look-ahead of an attempt has the same seed however they are split over calls. The attempt
    itself never leaves its prompt: one that does not fit even alone gets no look-ahead.
    """
    sampled: dict[int, list[Candidate]] = defaultdict(list)

    def ask(wanted: Mapping[int, int]) -> Looking:
        asked = list(wanted)

        def request(j: int, fitted: History) -> SampleRequest:
            i = asked[j]
            seed = derive_seed(scope, "lookahead", i) + len(sampled[i])
            return tools.ask(Purpose.LOOKAHEAD, tools.prompts.look_ahead(question, fitted), wanted[i], seed)

        extended = [(*history, attempts[i]) for i in asked]
        shown, batches = yield from sample_fitting(extended, request, num_needed=1)
        lookaheads = []
        for i, fitted, completions in zip(asked, shown, batches, strict=True):
            if not is_too_long(completions):
                sampled[i] += tools.lookaheads(completions, question.kind)
                votes = tools.votes(sampled[i], question.kind)
                lookaheads.append(Lookahead(i, votes, tuple(sampled[i]), len(history) + 1 - len(fitted)))
        return lookaheads

    return ask


def final_seed(scope: int, num_rounds: int, num_before: int = 0) -> int:
    """The seed of final samples after `num_rounds` rounds.

    `num_before` of them were sampled earlier.
    """
    return derive_seed(scope, "final", num_rounds, *(("after", num_before) if num_before else ()))


def sample_finals(
    question: Question,
    history: History,
    tools: Toolkit,
    num_finals: int,
    scope: int,
    num_rounds: int,
    *,
    num_before: int = 0,
) -> Computation[tuple[tuple[Candidate, ...], int]]:
    """Sample final answers after `num_rounds` rounds.

    Returns them and how many attempts did not fit. `num_before` were sampled earlier, so that these are a
    request of their own.
    """

    def request(_: int, fitted: History) -> SampleRequest:
        prompt = tools.prompts.solve(question, fitted)
        return tools.ask(Purpose.FINAL, prompt, num_finals, final_seed(scope, num_rounds, num_before))

    [fitted], [completions] = yield from sample_fitting([history], request)
    return tools.candidates(completions, question.kind), len(history) - len(fitted)


def sample_fitting(
    histories: Sequence[History], request: Callable[[int, History], SampleRequest], *, num_needed: int = 0
) -> Computation[tuple[list[History], Batches]]:
    """Send one request per history; return those that fitted, with completions.

    A history whose prompt is answered `prompt_too_long` loses its oldest attempt and is asked again, until
    its newest `num_needed` are left; one that is too long even so keeps that answer, which counts as
    truncated. Nothing is yielded for no histories.
    """
    fitted = list(histories)
    answers: Batches = [[] for _ in fitted]
    waiting = list(range(len(fitted)))
    while waiting:
        sampled = yield [request(i, fitted[i]) for i in waiting]
        for i, completions in zip(waiting, sampled, strict=True):
            answers[i] = completions
        waiting = [i for i in waiting if is_too_long(answers[i]) and len(fitted[i]) > num_needed]
        for i in waiting:
            fitted[i] = fitted[i][1:]
    return fitted, answers


def is_too_long(completions: Sequence[Completion]) -> bool:
    """Whether the prompt of these completions did not fit."""
    return any(c.finish_reason is FinishReason.PROMPT_TOO_LONG for c in completions)
