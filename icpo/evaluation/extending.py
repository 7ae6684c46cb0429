"""What an extended cell covers, and final samples added to results."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from icpo.benchmarks import LoadedBenchmark
from icpo.errors import IcpoError, OtherResults
from icpo.evaluation.journalled import NotJournalledError
from icpo.evaluation.tasks import Tasks
from icpo.methods import Run, drive
from icpo.methods.contracts import Contract, start
from icpo.methods.metering import sum_usage
from icpo.store import CellRecords, Extent, extents_of, load_results, read_manifest
from icpo.types import Engine, Extensible, Method, Question, QuestionResult, Relating, Toolkit

logger = logging.getLogger(__name__)


def extent_of(records: CellRecords, method: Method, loaded: LoadedBenchmark, seeds: Sequence[int]) -> Extent:
    """What is asked for and what is stored: a cell never shrinks.

    `loaded` has the questions of stored results, too. Raises OtherResults where the method's stored results
    cannot be extended so.
    """
    asked = extent_asked(method, loaded, seeds)
    extent = _with_stored(asked, records, method)
    if loaded.num_added or (extent.seeds, extent.num_finals) != (asked.seeds, asked.num_finals):
        logger.warning(
            "%s holds more than was asked for; all of it is kept and reported: %d questions, seeds %s, "
            "%d final samples each",
            records.folder.name,
            len(extent.question_ids),
            list(extent.seeds),
            extent.num_finals,
        )
    return extent


def extent_asked(method: Method, loaded: LoadedBenchmark, seeds: Sequence[int]) -> Extent:
    """What is asked for, whatever is stored."""
    return Extent(tuple(seeds), tuple(q.question_id for q in loaded.questions), num_finals_of(method))


def missing_in(folder: Path, job: object, config_digest: str) -> str:
    """What a cell, as another process has begun it, lacks of what a job is to do; "" for nothing."""
    try:
        manifest = read_manifest(folder)
        if manifest is None:
            return "all of it"
        if manifest.get("config_digest") != config_digest:
            return "its settings"
        if (asked := getattr(job, "asked", None)) is None:
            return ""
        extents = extents_of(manifest)
        return extents[-1].missing(asked()) if extents else "all of it"
    except IcpoError as error:
        return str(error)


def _with_stored(asked: Extent, records: CellRecords, method: Method) -> Extent:
    done = records.done()
    seeds = tuple(dict.fromkeys([*asked.seeds, *sorted(seed for _, seed in done)]))
    extent = replace(asked, seeds=seeds)
    if not done or not records.extents:
        return extent
    held = records.extents[-1]
    if isinstance(method, Relating) and held.question_ids != extent.question_ids:
        raise OtherResults(
            f"{records.folder}: method={method.name} shows a question something of the others, so that none "
            "can be added or change its place later. Choose another run_name."
        )
    if isinstance(method, Extensible):
        return replace(extent, num_finals=max(extent.num_finals, *records.final_counts))
    if held.num_finals != extent.num_finals:
        raise OtherResults(
            f"{records.folder} holds results with {held.num_finals} final samples each, and "
            f"method={method.name} cannot add to them. Set budget.num_finals={held.num_finals}, or choose "
            "another run_name."
        )
    return extent


def num_finals_of(method: Method) -> int:
    """The final samples of a method's budget; 0 without any."""
    return int(getattr(getattr(method, "budget", None), "num_finals", 0))


def with_num_finals(method: Method, num_finals: int) -> Method:
    """The method with that many final samples."""
    if num_finals_of(method) == num_finals:
        return method
    known: Any = method
    return replace(known, budget=replace(known.budget, num_finals=num_finals))  # type: ignore[no-any-return]


def has_lost(records: CellRecords) -> bool:
    """Whether a result is not stored that the cell was to have with fewer final samples before."""
    done, (*past, held) = records.done(), records.extents
    return any(
        (name, seed) not in done
        for one in past
        if one.num_finals < held.num_finals
        for name, seed in product(one.question_ids, one.seeds)
    )


def repeat_lost(
    method: Extensible,
    records: CellRecords,
    questions: Sequence[Question],
    tools: Toolkit,
    journal: Callable[[], Engine],
    block_questions: int | None,
) -> None:
    """Store lost results again as they came about, extent by extent.

    So the journal has all their requests. What `journal`, an engine that knows no others, raises
    NotJournalledError for was not sampled then, and is left to do.
    """
    by_id = {question.question_id: question for question in questions}
    stored = {result.key: result for result in load_results(records.folder)}
    found: dict[tuple[str, int], QuestionResult] = {}
    for i, extent in enumerate(records.extents, start=1):
        with suppress(NotJournalledError):
            results = extended(
                method, list(found.values()), extent.num_finals, tools, journal(), max_in_flight=1
            )
            found = {result.key: result for result in results}
        known = [by_id[name] for name in extent.question_ids if name in by_id]
        done = found.keys() if block_questions else found.keys() | stored.keys()
        tasks = Tasks(known, extent.seeds, done, records.extents[:i])
        smaller = with_num_finals(method, extent.num_finals)
        for block in tasks.blocks(block_questions) if block_questions else ([one] for one in tasks.left):
            runs = (start(smaller, task.question, tools, seed=task.seed) for task in block)
            with suppress(NotJournalledError):
                for result in list(drive(runs, journal(), max_in_flight=len(block))):
                    found.setdefault(result.key, result)
    records.replace_results(list((found | stored).values()))


def extended(
    method: Extensible,
    results: Sequence[QuestionResult],
    num_finals: int,
    tools: Toolkit,
    engine: Engine,
    *,
    max_in_flight: int,
) -> list[QuestionResult]:
    """The results, extended to `num_finals` final samples each."""
    found = {result.key: result for result in results}
    short = sorted(
        (one for one in results if len(one.finals[-1][1]) < num_finals), key=lambda one: (one.seed, one.key)
    )
    size = engine.block_questions or max(len(short), 1)
    for i in range(0, len(short), size):
        runs = (_more(method, one, num_finals, tools) for one in short[i : i + size])
        for result in drive(runs, engine, max_in_flight=engine.block_questions or max_in_flight):
            found[result.key] = _with_cost_of(found[result.key], result)
    return list(found.values())


def _more(method: Extensible, result: QuestionResult, num_finals: int, tools: Toolkit) -> Run:
    """The run that adds a result's missing final samples."""
    solving = method.add_finals(result, tools, num_more=num_finals - len(result.finals[-1][1]))
    return Run(solving, (Contract(method, result.question, result.seed, solving),))


def _with_cost_of(before: QuestionResult, result: QuestionResult) -> QuestionResult:
    """The result, whose further final samples were metered alone, with what it had cost before."""
    are_apart = len(before.usage_at_finals) == len(result.usage_at_finals)
    at = zip(before.usage_at_finals, result.usage_at_finals, strict=True) if are_apart else ()
    return replace(
        result,
        usage=sum_usage(before.usage, result.usage),
        usage_at_finals=tuple(sum_usage(*pair) for pair in at),
    )
