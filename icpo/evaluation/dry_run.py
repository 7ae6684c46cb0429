"""The dry run: what a cell needs at most.

It plays the method against a worst-case engine. Prompts are the real ones. A completion is a mark, in which
its number of tokens is written, so that a prompt that quotes it counts as if it quoted a text of that length.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from math import ceil

from icpo.engines.local.transformers import Transformers
from icpo.engines.sources import absence
from icpo.engines.vllm.settings import Vllm
from icpo.errors import ConfigError
from icpo.evaluation.evaluation import Evaluation
from icpo.evaluation.rates import Need, describe, describe_total
from icpo.methods import drive
from icpo.methods.contracts import start
from icpo.types import (
    AnswerKind,
    Completion,
    FinishReason,
    Prompt,
    PromptBook,
    Purpose,
    Question,
    SampleRequest,
    Sampling,
    Toolkit,
    Votes,
)

CHARACTERS_PER_TOKEN = 3  # of a prompt's own words; English has more than four
MARK = re.compile(r"\ue000(\d+) (\d+)\ue001")


def needs_of(jobs: Mapping[str, object]) -> Iterator[str]:
    """Lines on the needs of each cell and of all.

    One line more for each thing that a run would lack.

    Raises:
        ConfigError: a job is no Evaluation, or the number of questions is not known.
        BenchmarkError: a file cannot be counted.
    """
    needs, lacking = [], set[str]()
    for name, job in jobs.items():
        if not isinstance(job, Evaluation):
            raise ConfigError(
                f"dry_run has no estimate for {name}, a {type(job).__name__}; it covers job=evaluation."
            )
        needs.append((cell_need(job), job.rates))
        yield describe(name, *needs[-1])
        is_local = isinstance(job.engine, Transformers | Vllm)
        for warning in (job.cut_answers(), absence(job.backbone) if is_local else None):
            if warning and warning not in lacking:
                yield f"warning: {warning}"
                lacking.add(warning)
    if len(needs) > 1:
        yield describe_total(needs)


def cell_need(job: Evaluation) -> Need:
    """The need of all questions under all seeds.

    Raises ConfigError where the number of questions is not known.
    """
    num_questions = job.benchmark.num_questions()
    if num_questions is None:
        raise ConfigError(
            f"dry_run cannot know how many questions {job.benchmark.name} has. Set benchmark.limit or "
            "benchmark.expected_count."
        )
    engine = play(job, refuses=False)
    need = engine.need
    if engine.is_beyond_context:  # a history may then be shortened again and again, each time by a request
        need = need.or_more(play(job, refuses=True).need)
    return need.times(num_questions * len(job.seeds))


def play(job: Evaluation, *, refuses: bool) -> "WorstCase":
    """The engine after one question."""
    question, other = (_longest_question(job, name) for name in ("first", "second"))
    method = job.prepared_method([question, other], lambda question, answer: True)
    tools = worst_case_tools(
        job.prompts,
        job.sampling(),
        answer_tokens=job.protocol.lookahead.answer_tokens,
        thinking_tokens=job.backbone.thinking_tokens,
    )
    most = getattr(job.engine, "samples_per_call", None)
    engine = WorstCase(job.context_tokens, samples_per_call=most, refuses=refuses)
    for _ in drive([start(method, question, tools, seed=0)], engine, max_in_flight=1):
        pass
    return engine


def worst_case_tools(
    prompts: PromptBook, sampling: Mapping[Purpose, Sampling], *, answer_tokens: int, thinking_tokens: int = 0
) -> Toolkit:
    """Tools for the worst case: all answers differ, none is hidden."""

    def read(text: str, kind: AnswerKind) -> str:
        number, _ = MARK.findall(text)[-1]
        return mark(int(number), answer_tokens)

    def tally(answers: Sequence[str | None], kind: AnswerKind) -> Votes:
        counts = Counter(answer for answer in answers if answer is not None)
        return Votes(tuple(counts.most_common()), len(answers) - counts.total(), tuple(answers))

    return Toolkit(prompts, sampling, read, tally, thinking_tokens=thinking_tokens)


class WorstCase:
    """An engine of longest completions; it adds up the requests.

    With `refuses` a prompt that does not fit the context is answered so; without, it is cut to the context.
    """

    identity = "worst case"
    block_questions = None

    def __init__(self, context_tokens: int, *, samples_per_call: int | None, refuses: bool) -> None:
        self.need, self.is_beyond_context = Need(), False
        self._context_tokens, self._samples_per_call = context_tokens, samples_per_call
        self._refuses = refuses
        self._numbers = count()
        self._done: list[tuple[int, list[Completion]]] = []

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Completes a request and adds its need."""
        sampling, size = request.sampling, request.num_samples
        prompt_tokens = num_tokens(request.prompt)
        room = self._context_tokens - prompt_tokens
        is_too_long = room < sampling.min_room_tokens
        self.is_beyond_context |= is_too_long
        most = min(sampling.max_tokens, self._context_tokens)
        reason = FinishReason.LENGTH
        if is_too_long and self._refuses:
            most, reason = 0, FinishReason.PROMPT_TOO_LONG
        num_requests = ceil(size / (self._samples_per_call or size))
        shown = min(prompt_tokens, self._context_tokens)
        self.need += Need(num_requests, size, num_requests * shown, size * most)
        texts = [mark(next(self._numbers), most) for _ in range(size)]
        self._done.append((ticket, [Completion(text, shown, most, reason) for text in texts]))

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """All that was submitted."""
        done, self._done = self._done, []
        return done

    def cancel(self, ticket: int) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is held."""


def mark(number: int, num_tokens: int) -> str:
    """A short text, different by number, that counts as so many tokens."""
    return f"\ue000{number} {num_tokens}\ue001"


def num_tokens(prompt: Prompt) -> int:
    """An upper bound of a prompt's tokens."""
    own = len(MARK.sub("", prompt.raw))
    return ceil(own / CHARACTERS_PER_TOKEN) + sum(int(tokens) for _, tokens in MARK.findall(prompt.raw))


def _longest_question(job: Evaluation, question_id: str) -> Question:
    """A question whose prompt without attempts has `question_tokens`."""
    empty = Question(question_id, "", job.benchmark.kind)
    missing = job.question_tokens - num_tokens(job.prompts.plain(empty))
    return replace(empty, text=mark(0, max(missing, 1)))
