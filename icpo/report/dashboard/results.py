"""The page of results: which arm is best, where and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icpo.report.cells import Cell
from icpo.report.dashboard import charts
from icpo.report.dashboard.blocks import Block, address, chart, choice, heading, note, table, warning
from icpo.report.frame import benchmarks_of, sections
from icpo.report.page import problems
from icpo.report.report import Report
from icpo.report.rows import pick, records
from icpo.report.tables import (
    METRICS,
    VERDICT_NOTE,
    TextTable,
    first_table,
    gain_table,
    gains_of,
    majority_table,
    marks_of,
    paper_table,
    score_table,
)
from icpo.report.text import METRIC_NAMES, cell_text, metric_name, percent, whole

Row = Mapping[str, Any]
HIDDEN = (
    "run", "backbone", "method", "reward", "selector", "protocol", "rounds", "candidates", "look-aheads",
)  # fmt: skip
SCORES = ("Mean@k", "Accuracy", "Maj@k", "pass@k")  # METRICS, of cells whose k may differ


@dataclass(frozen=True, slots=True)
class Shown:
    """What the pages show: runs, colours and differing settings."""

    reports: tuple[Report, ...]
    shades: Mapping[str, str]
    settings: Mapping[str, Mapping[str, str]]
    with_questions: frozenset[str]
    scores: Mapping[str, Sequence[Row]]  # by path, the rows of a cell's arms

    @property
    def cells(self) -> list[tuple[str, Cell, Report]]:
        """Every cell with its path, RUN/CELL."""
        return [(f"{r.run_name}/{cell.folder.name}", cell, r) for r in self.reports for cell in r.cells]


def results_page(shown: Shown) -> list[Block]:
    """All blocks of the page."""
    blocks = [heading(", ".join(report.run_name for report in shown.reports), 1)]
    for report in shown.reports:
        missing = problems(report.cells, report.notes)
        blocks += warning(f"Not everything of {report.run_name} is in these tables:", missing)
        for backbone, protocol, _, section in sections(report.frame):
            blocks += [heading(f"{report.run_name}: {backbone}, protocol {protocol}")]
            blocks += table(first_table(section), _name("first", blocks), searchable=False)
    if any(len(report.frame) for report in shown.reports):
        options = [(metric, f"{METRIC_NAMES[metric]}", _metric_blocks(shown, metric)) for metric in METRICS]
        blocks += [choice("metric", "metric", options)]
    for report in shown.reports:
        facts = {cell.folder.name: cell.metrics for cell in report.cells}
        majorities = majority_table(report.frame, facts)
        if majorities.rows:
            blocks += [heading(f"{report.run_name}: copying and majorities")]
            name = _name("majorities", blocks)
            blocks += table(majorities, name, searchable=len(majorities.rows) > 20)
        if len(report.paper):
            blocks += [heading(f"{report.run_name}: beside the paper"), note(VERDICT_NOTE)]
            blocks += table(paper_table(report.paper), _name("paper", blocks))
    return blocks + _cell_tables(shown)


def _metric_blocks(shown: Shown, metric: str) -> list[Block]:
    blocks: list[Block] = []
    for report in shown.reports:
        for backbone, protocol, k, section in sections(report.frame):
            title = f"{report.run_name}: {metric_name(metric, k)} (%), {backbone}, protocol {protocol}"
            blocks += [heading(title)]
            blocks += table(score_table(section, metric), _name("scores", blocks), searchable=False)
            benchmarks = benchmarks_of(section)
            rows = [
                {"line": row["line"], "benchmark": row["benchmark"], "shown": cell_text(row), **scaled(row)}
                for row in records(pick(section, metric=metric, is_difference=False))
            ]
            width = 260 + max(220, 26 * len({row["line"] for row in rows})) * len(benchmarks)
            blocks += [chart(charts.bars(rows, benchmarks, shown.shades), _name("bars", blocks), width)]
            gains = gain_table(section, metric)
            if gains.rows:
                blocks += [heading(f"{report.run_name}: what is gained", 3)]
                links = _pair_links(shown, report, section, metric)
                blocks += table(gains, _name("gains", blocks), links=links, searchable=len(gains.rows) > 20)
    return blocks


def _name(name: str, blocks: Sequence[Block]) -> str:
    """An id that no block before has: `gains`, `gains-2`, ..."""
    used = sum(str(block.get("id", "")).partition("-")[0] == name for block in blocks)
    return f"{name}-{used + 1}" if used else name


def scaled(row: Mapping[str, Any]) -> dict[str, float]:
    """Value and bounds of a row in percent, as shown."""
    return {name: round(100 * row[name], 1) for name in ("value", "low", "high")}


def pair_name(a: str, b: str) -> str:
    """How an address names the comparison of two cells."""
    return f"{a} - {b}"


def _pair_links(shown: Shown, report: Report, section: Any, metric: str) -> dict[tuple[int, int], str]:
    """Where the name of each difference leads: to the comparison question by question."""
    gains = gains_of(section, metric)
    paths = [[f"{report.run_name}/{row[name]}" for name in ("cell", "base_cell")] for row in gains]
    return {
        (i, 1): address("compare", of=row["benchmark"], pair=pair_name(*pair), metric=metric)
        for i, (row, pair) in enumerate(zip(gains, paths, strict=True))
        if not row["is_pool"] and shown.with_questions.issuperset(pair)
    }


def _cell_tables(shown: Shown) -> list[Block]:
    keys = list(dict.fromkeys(key for own in shown.settings.values() for key in own))
    scored = [(path, cell, report) for path, cell, report in shown.cells if cell.arms]
    counts = ("questions", "seeds", *SCORES, "parsed", "tokens/question", "seconds", "state")
    header = ("cell", "arm", "benchmark", *HIDDEN, *keys, *counts)
    rows, links = [], {}
    known = shown.with_questions
    for i, (path, cell, report) in enumerate(scored):
        settings = [shown.settings[path].get(key, "") for key in keys]
        rows.append(_cell_row(cell, report, shown.scores[path], settings))
        if path in known:
            links[i, 0] = address("cell", cell=path)
    blocks: list[Block] = []
    if rows:
        shown_table = TextTable(header, tuple(rows), 3 + len(HIDDEN) + len(keys))
        blocks += [heading("All cells")]
        blocks += table(shown_table, "cells", links=links, hidden=(*HIDDEN, *keys))
    others = [(path, cell) for path, cell, _ in shown.cells if not cell.arms]
    if others:
        lines = tuple((path, cell.state, _numbers(cell)) for path, cell in others)
        links = {(i, 0): address("cell", cell=path) for i, (path, _) in enumerate(others) if path in known}
        blocks += [heading("Cells without scores")]
        blocks += table(TextTable(("cell", "state", "numbers"), lines, 3), "others", links=links)
    return blocks


def _cell_row(cell: Cell, report: Report, rows: Sequence[Row], settings: Sequence[str]) -> tuple[str, ...]:
    key = cell.last.key
    found = {row["metric"]: row for row in rows if row["num_rounds"] == key.num_rounds}
    rules = (key.backbone, key.method, key.reward, key.selector)
    sizes = (key.num_rounds, key.num_candidates, key.num_lookaheads)
    return (
        cell.folder.name,
        str(found["mean_at_k"]["line"]),
        key.benchmark,
        report.run_name,
        *("" if value is None else str(value) for value in (*rules, key.protocol, *sizes)),
        *settings,
        str(cell.last.num_questions),
        str(len(cell.metrics["seeds"])),
        cell_text(found["mean_at_k"]) + marks_of(found),
        *(cell_text(found[metric]) for metric in METRICS[1:]),
        percent(found["parsed_share"]["value"]),
        whole(cell.metrics.get("generated_tokens", 0) / len(cell.last.scores)),
        whole(cell.metrics.get("wall_seconds")),
        cell.state,
    )


def _numbers(cell: Cell) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in cell.metrics.items()
        if isinstance(value, int | float)
    )
