"""Writes the dashboard's folder: pages and libraries as they are shipped, and the data that they read."""

import json
import logging
import shutil
from collections.abc import Mapping, Sequence, Set
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from icpo.errors import IcpoError, RecordsError
from icpo.metrics import PER_QUESTION
from icpo.report.cells import Cell, load_cells
from icpo.report.dashboard.cell_data import flat, index_entry, question_rows
from icpo.report.dashboard.pages import TEMPLATE_NAME, write_pages
from icpo.report.dashboard.prompt_parts import book_of
from icpo.report.dashboard.story import draws_of, story
from icpo.report.dashboard.tables import run_tables
from icpo.store import read_results, read_texts

logger = logging.getLogger(__name__)


def write_dashboard(outputs: Path, run_names: Sequence[str], *, max_questions: int) -> Path:
    """Writes OUTPUTS/FIRST_RUN/dashboard over all runs named and returns its index.html.

    Each cell's first `max_questions` questions get a page. A cell that cannot be read is listed with the
    reason. Raises RecordsError when a run has no folder.
    """
    for run_name in run_names:
        if not (outputs / run_name).is_dir():
            raise RecordsError(
                f"There is no run {run_name!r} in {outputs}. Give the run_name of a run that was begun."
            )
    folder = outputs / run_names[0] / "dashboard"
    with as_file(files("icpo.report.dashboard") / "assets") as assets:
        shutil.rmtree(folder / "data", ignore_errors=True)
        shutil.copytree(assets, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(TEMPLATE_NAME))
        write_pages(assets, folder)
    runs = [(run_name, load_cells(outputs, run_name)) for run_name in run_names]
    cells = [(run_name, cell) for run_name, run in runs for cell in run]
    configs = _varying([dict(flat(cell.config)) for _, cell in cells])
    entries = []
    for i, ((run_name, cell), config) in enumerate(zip(cells, configs, strict=True)):
        cell_id = f"c{i}"
        entry = index_entry(cell_id, run_name, cell, config)
        entries.append(entry | {"has_questions": _write_questions(folder, cell_id, cell, max_questions)})
    tables = [run_tables(run_name, run) for run_name, run in runs]
    _write(
        folder / "data/index.js", "index", {"runs": tables, "cells": entries, "metrics": list(PER_QUESTION)}
    )
    return folder / "index.html"


def _write_questions(folder: Path, cell_id: str, cell: Cell, max_questions: int) -> bool:
    """Writes a cell's questions in short and the pages' stories; False if there are none."""
    try:
        results = read_results(cell.folder)
        rows = question_rows(results, cell.scores)
        told = _stories(cell, results, {row["id"] for row in rows[:max_questions]})
    except (IcpoError, KeyError, TypeError, ValueError) as error:
        logger.warning("%s has no question pages: %s", cell.folder.name, error)
        return False
    for i, row in enumerate(rows[:max_questions]):
        row["file"] = f"q{i}"
        question = {name: row[name] for name in ("id", "text", "gold")}
        name = f"questions/{cell_id}/q{i}"
        _write(folder / f"data/{name}.js", name, question | {"seeds": told[row["id"]]})
    _write(folder / f"data/cells/{cell_id}.js", f"cells/{cell_id}", {"questions": rows})
    return bool(rows)


def _stories(
    cell: Cell, results: Sequence[Mapping[str, Any]], question_ids: Set[str]
) -> dict[str, dict[str, Any]]:
    """The stories of these questions, by question and seed."""
    wanted = [result for result in results if result["question_id"] in question_ids]
    scores = {score.key: score for score in cell.scores}
    book, prompt = book_of(cell.job), cell.metrics.get("prompt")
    texts = _texts(cell, [draw for result in wanted for draw in draws_of(result)])
    told: dict[str, dict[str, Any]] = {}
    for result in wanted:
        score = scores.get((result["question_id"], result["seed"]))
        seeds = told.setdefault(result["question_id"], {})
        seeds[str(result["seed"])] = story(result, score, texts, book, prompt)
    return told


def _texts(cell: Cell, draws: Sequence[str]) -> Mapping[str, str]:
    """The completions by draw; none, with a warning, where the journals no longer hold them all."""
    try:
        return read_texts(cell.folder, draws)
    except IcpoError as error:
        logger.warning("The pages of %s show no completions: %s", cell.folder.name, error)
        return {}


def _varying(configs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each configuration's values of the keys in which the cells differ: those worth a column."""
    keys = dict.fromkeys(key for config in configs for key in config)
    varying = [key for key in keys if len({json.dumps(c.get(key), default=str) for c in configs}) > 1]
    return [{key: config[key] for key in varying if key in config} for config in configs]


def _write(path: Path, name: str, value: Any) -> None:
    """A data file: a script, as pages opened from a disk may load scripts and nothing else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, separators=(",", ":"), default=str)
    path.write_text(f"icpo.receive({json.dumps(name)},{text});\n", encoding="ascii")
