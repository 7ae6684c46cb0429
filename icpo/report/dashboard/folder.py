"""Writes the dashboard's folder: pages, libraries and data."""

import json
import logging
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from itertools import chain, combinations, islice
from pathlib import Path
from typing import Any

import pandas as pd

from icpo.errors import IcpoError
from icpo.report.cells import Cell
from icpo.report.colours import colours
from icpo.report.dashboard.blocks import Block, choice, heading, load, note
from icpo.report.dashboard.costs import costs_page
from icpo.report.dashboard.curves import curves_page
from icpo.report.dashboard.pages import TEMPLATE_NAME, write_pages
from icpo.report.dashboard.prompt_parts import book_of
from icpo.report.dashboard.questions import cell_page, pair_page, texts_of
from icpo.report.dashboard.results import Shown, pair_name, results_page
from icpo.report.dashboard.story import draws_of, story
from icpo.report.order import place
from icpo.report.report import Report, read_report
from icpo.report.rows import records
from icpo.report.settings import flat
from icpo.store import Texts, load_results
from icpo.types import QuestionResult

MAX_STORY_BYTES = 20_000_000  # of a cell's questions, as a browser reads them at once
MAX_STORIES_BYTES = 200_000_000  # of all cells' questions
MAX_PAIR_BYTES = 20_000_000  # of all comparisons

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listed:
    """A cell with questions: its path, data name, texts, page count."""

    path: str
    name: str
    cell: Cell
    texts: Mapping[str, str]
    num_pages: int


def write_dashboard(outputs: Path, run_names: Sequence[str], *, max_questions: int) -> Path:
    """Writes OUTPUTS/FIRST_RUN/dashboard over all runs named and returns its index.html.

    Each cell's first `max_questions` questions get a page, fewer where they take more than MAX_STORY_BYTES. A
    cell that cannot be read is listed with the reason. Raises RecordsError when there is no such run.
    """
    reports = _distinct([read_report(outputs, run_name) for run_name in dict.fromkeys(run_names)])
    folder = outputs / run_names[0] / "dashboard"
    with as_file(files("icpo.report.dashboard") / "assets") as assets:
        shutil.rmtree(folder / "data", ignore_errors=True)
        shutil.copytree(assets, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(TEMPLATE_NAME))
        write_pages(assets, folder)
    listed = list(_write_cells(folder, reports, max_questions))
    frame = pd.concat([report.frame for report in reports])
    with_questions = frozenset(cell.path for cell in listed)
    shown = Shown(reports, colours(frame), _settings(reports), with_questions, _scores(reports))
    pages = {
        "index": results_page(shown),
        "compare": _compare_page(folder, listed, shown),
        "curves": curves_page(shown),
        "costs": costs_page(shown),
        "cells": [{"path": cell.path, "name": cell.name} for cell in listed],
    }
    for name, blocks in pages.items():
        _write(folder, name, blocks)
    return folder / "index.html"


def _write_cells(folder: Path, reports: Sequence[Report], max_questions: int) -> Iterator[Listed]:
    """Writes each cell's questions in short and their stories; a cell without questions is left out."""
    cells = [(report.run_name, cell) for report in reports for cell in report.cells]
    room = min(MAX_STORY_BYTES, MAX_STORIES_BYTES // max(len(cells), 1))
    for i, (run_name, cell) in enumerate(cells):
        path, name = f"{run_name}/{cell.folder.name}", f"c{i}"
        try:
            results = load_results(cell.folder)
            stories = _stories(cell, results, max_questions, room)
        except (IcpoError, LookupError, TypeError, ValueError) as error:
            logger.warning("%s has no question pages: %s", cell.folder.name, error)
            continue
        if results:
            _write(folder, f"cells/{name}", cell_page(path, results, cell.scores, len(stories)))
            _write(folder, f"questions/{name}", stories)
            yield Listed(path, name, cell, texts_of(results), len(stories))


def _stories(
    cell: Cell, results: Sequence[QuestionResult], max_questions: int, room: int
) -> list[dict[str, Any]]:
    """The stories of the first questions, in order of first appearance, as many as fit `room` bytes."""
    wanted: dict[str, list[QuestionResult]] = {}
    for result in results:
        wanted.setdefault(result.question.question_id, []).append(result)
    scores = {score.key: score for score in cell.scores}
    book, prompt = book_of(cell.job), cell.metrics.get("prompt")
    found: list[dict[str, Any]] = []
    size = 0
    with _Texts(cell) as texts:
        for name, own in islice(wanted.items(), max_questions):
            golds = [scores[result.key].gold for result in own if result.key in scores]
            seeds = {str(r.seed): story(r, scores.get(r.key), texts.of(r), book, prompt) for r in own}
            question = {
                "id": name,
                "text": own[0].question.text,
                "gold": golds[0] if golds else None,
                "seeds": seeds,
            }
            size += len(json.dumps(question))
            if found and size > room:
                logger.warning("%s: the first %d questions have a page", cell.folder.name, len(found))
                break
            found.append(question)
    return found


class _Texts:
    """The completions of a cell; none, with one warning, where the journals no longer hold them."""

    def __init__(self, cell: Cell) -> None:
        self._cell, self._stored, self._is_whole = cell, Texts(cell.folder), True

    def of(self, result: QuestionResult) -> Mapping[str, str]:
        if self._is_whole:
            try:
                return self._stored.of(draws_of(result))
            except IcpoError as error:
                self._is_whole = False
                logger.warning("The pages of %s lack completions: %s", self._cell.folder.name, error)
        return {}

    def __enter__(self) -> "_Texts":
        return self

    def __exit__(self, *_: object) -> None:
        self._stored.close()


def _compare_page(folder: Path, listed: Sequence[Listed], shown: Shown) -> list[Block]:
    """Any two cells on one benchmark, bases and lower sizes as B; the largest dashboards lack some pairs."""
    scored = sorted((x for x in listed if x.cell.arms), key=lambda x: (place(x.cell.last.key), x.path))
    several = len(shown.reports) > 1
    options: dict[str, list[tuple[str, str, list[Block]]]] = {}
    size = count = left_out = 0
    by_benchmark: dict[str, list[Listed]] = {}
    for one in scored:
        by_benchmark.setdefault(one.cell.last.key.benchmark, []).append(one)
    for b, a in chain.from_iterable(combinations(own, 2) for own in by_benchmark.values()):
        key = a.cell.last.key
        if size > MAX_PAIR_BYTES:
            left_out += 1
            continue
        try:
            blocks = pair_page(a.cell, b.cell, (a.path, b.path), a.texts, (a.num_pages, b.num_pages))
        except ValueError:  # no question and seed in common, or other questions
            continue
        size += len(json.dumps(blocks))
        _write(folder, f"pairs/p{count}", blocks)
        name = f"{_name(a, several)} minus {_name(b, several)}"
        option = (pair_name(a.path, b.path), name, [heading(f"A: {a.path}", 3), heading(f"B: {b.path}", 3)])
        option[2].append(load(f"pairs/p{count}"))
        options.setdefault(key.benchmark, []).append(option)
        count += 1
    if not options:
        return [heading("Two cells with graded questions of one benchmark are needed for a comparison.", 1)]
    groups = [(name, name, [choice("pair", "A minus B", own)]) for name, own in options.items()]
    note_ = [note(f"{left_out} further pairs are left out, to keep the dashboard small.")] if left_out else []
    return [heading("Question by question", 1), *note_, choice("of", "benchmark", groups)]


def _name(listed: Listed, several: bool) -> str:
    key, run_name = listed.cell.last.key, listed.path.partition("/")[0]
    return f"{key.title} ({', '.join([run_name] * several + [key.backbone, key.protocol])})"


def _distinct(reports: Sequence[Report]) -> tuple[Report, ...]:
    """Lines that several runs have, named with their run."""
    titles = Counter(title for report in reports for title in set(report.frame["title"]))

    def named(report: Report) -> pd.DataFrame:
        frame = report.frame
        shared = frame["title"].map(titles) > 1
        return frame.assign(line=frame["line"].mask(shared, f"{report.run_name}: " + frame["line"]))

    return tuple(replace(report, frame=named(report)) for report in reports)


def _scores(reports: Sequence[Report]) -> dict[str, list[dict[str, Any]]]:
    """By path, the rows of a cell's arms, fewest rounds first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for report in reports:
        for row in records(report.frame[~report.frame["is_difference"] & ~report.frame["is_pool"]]):
            found.setdefault(f"{report.run_name}/{row['cell']}", []).append(row)
    return found


def _settings(reports: Sequence[Report]) -> dict[str, dict[str, str]]:
    """Of each cell, by its path, the settings that differ among the cells: those worth a column."""
    configs = {
        f"{r.run_name}/{cell.folder.name}": {
            key: value if isinstance(value, str) else json.dumps(value, default=str)
            for key, value in flat(cell.config)
        }
        for r in reports
        for cell in r.cells
    }
    keys = dict.fromkeys(key for config in configs.values() for key in config)
    varying = [key for key in keys if len({config.get(key) for config in configs.values()}) > 1]
    return {path: {key: config.get(key, "") for key in varying} for path, config in configs.items()}


def _write(folder: Path, name: str, value: Any) -> None:
    """A data file: a script, as pages opened from a disk may load scripts and nothing else."""
    path = folder / f"data/{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, separators=(",", ":"), default=str)
    path.write_text(f"icpo.receive({json.dumps(name)},{text});\n", encoding="ascii")
