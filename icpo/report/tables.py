"""The tables of a section as texts, the same everywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from icpo.report.frame import OVER_MAJORITY, benchmarks_of
from icpo.report.rows import pick, records
from icpo.report.text import cell_text, interval, metric_name, percent, whole

FEW_QUESTIONS = 20
MOST_UNREAD = 0.2
FEW, UNREAD = "*", "†"
MARK_NOTES = {
    UNREAD: f"{UNREAD} Warning: more than {MOST_UNREAD:.0%} of the answers are unparsed, truncated, blocked "
    "or empty",
    FEW: f"{FEW} fewer than {FEW_QUESTIONS} questions",
}
VERDICT_NOTE = (
    "`within`: the paper's value is in our 95% interval; `above` and `below` say where ours is; `not run`: "
    "this run has no such number."
)
METRICS = ("mean_at_k", "accuracy", "majority_at_k", "pass_at_k")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TextTable:
    """Header and rows of texts, with notes that explain marks."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    num_texts: int = 1
    notes: tuple[str, ...] = ()


def first_table(section: pd.DataFrame) -> TextTable:
    """The first table: scores, readability and costs per benchmark and arm."""
    scores = section[~section["is_difference"]]
    k = int(section["k"].iloc[0])
    rows = []
    found = _by_place(scores)
    for benchmark in benchmarks_of(scores):
        lines = found[benchmark]
        rows += [(benchmark, *_first_row(line, own, _base_of(own, lines))) for line, own in lines.items()]
    scored = ("benchmark", "arm", "questions", f"{metric_name('mean_at_k', k)} (%)", f"Maj@{k} (%)")
    header = (*scored, "parsed (%)", "right among parsed (%)", "tokens/question", "x base")
    return TextTable(header, tuple(rows), 2, _mark_notes(rows))


def score_table(section: pd.DataFrame, metric: str) -> TextTable:
    """One metric: lines are arms and gains, columns are benchmarks."""
    benchmarks = benchmarks_of(section)
    of_metric = section[section["metric"] == metric]
    found = _by_place(section[~section["is_difference"]])
    rows: list[tuple[str, ...]] = []
    for line, own in of_metric.groupby("line", sort=False):
        scores, gains = own[~own["is_difference"]], own[own["is_difference"]]
        shown = zip(benchmarks, _cells(scores, benchmarks, signed=False), strict=True)
        rows.append((str(line), *(text and text + marks_of(found[name][str(line)]) for name, text in shown)))
        for base, part in gains.groupby("base_line", sort=False):
            rows.append((f"minus {base}", *_cells(part, benchmarks, signed=True)))
    return TextTable(("", *benchmarks), tuple(rows), notes=_mark_notes(rows))


def gains_of(section: pd.DataFrame, metric: str) -> list[Row]:
    """One metric's differences, in the order of benchmarks."""
    place = {name: i for i, name in enumerate(benchmarks_of(section))}
    gains = records(pick(section, metric=metric, is_difference=True))
    return sorted(gains, key=lambda row: place[row["benchmark"]])


def gain_table(section: pd.DataFrame, metric: str) -> TextTable:
    """One metric's differences: a line for each benchmark, arm and base."""
    k = int(section["k"].iloc[0])
    rows = [
        (row["benchmark"], f"{row['line']} minus {row['base_line']}", cell_text(row, signed=True))
        for row in gains_of(section, metric)
    ]
    return TextTable(("benchmark", "arms", f"{metric_name(metric, k)} (points)"), tuple(rows), 2)


def majority_table(frame: pd.DataFrame, facts: Mapping[str, Mapping[str, Any]]) -> TextTable:
    """What each difference did to the base's majorities."""
    rows = []
    for row in records(pick(frame, metric=OVER_MAJORITY, is_difference=True)):
        metrics = facts.get(row["cell"], {})
        rows.append(
            (
                row["benchmark"],
                f"{row['line']} minus {row['base_line']}",
                *(percent(metrics.get(name)) for name in ("copy_rate", "tag_accuracy")),
                cell_text(row, signed=True),
                f"{row['majority_corrected']:.1f}",
                f"{row['majority_broken']:.1f}",
                str(row["num_questions"]),
            )
        )
    header = ("benchmark", "arms", "copy rate", "tag accuracy", "Mean@k minus base Maj@k")
    return TextTable((*header, "majority corrected", "majority broken", "questions"), tuple(rows), 2)


def paper_table(beside: pd.DataFrame) -> TextTable:
    """The paper's numbers beside ours, of `beside_paper`."""
    facts = ("backbone", "arm", "benchmark", "metric", "protocol", "questions x seeds", "paper")
    header = (*facts, "ours [95% interval]", "difference", "verdict", "source")
    return TextTable(header, tuple(_paper_row(row) for row in records(beside)), 5)


def is_unread(own: Mapping[str, Row]) -> bool:
    """Whether too many of an arm's answers could not be read."""
    return bool(own["parsed_share"]["value"] < 1 - MOST_UNREAD)


def marks_of(own: Mapping[str, Row]) -> str:
    """The marks behind an arm's score."""
    return UNREAD * is_unread(own) + FEW * bool(own["mean_at_k"]["num_questions"] < FEW_QUESTIONS)


def tokens_over_base(own: Mapping[str, Row], base: Mapping[str, Row] | None) -> float | None:
    """How many times the base's tokens an arm generates."""
    tokens = [
        x["tokens_per_question"]["value"] if x and "tokens_per_question" in x else 0 for x in (own, base)
    ]
    return tokens[0] / tokens[1] if all(tokens) else None


def _mark_notes(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What the marks in these rows mean."""
    shown = "".join(text for row in rows for text in row)
    return tuple(note for mark, note in MARK_NOTES.items() if mark in shown)


def _by_place(scores: pd.DataFrame) -> dict[str, dict[str, dict[str, Row]]]:
    """Rows by benchmark, line and metric."""
    found: dict[str, dict[str, dict[str, Row]]] = {}
    for row in records(scores):
        found.setdefault(row["benchmark"], {}).setdefault(row["line"], {})[row["metric"]] = row
    return found


def _base_of(own: Mapping[str, Row], lines: Mapping[str, Mapping[str, Row]]) -> Mapping[str, Row] | None:
    """The first base, of those with the same value of what is swept, if there are such."""
    bases = [other for other in lines.values() if other["mean_at_k"]["is_base"]]
    for name in ("setting", "swept"):
        bases = [base for base in bases if base["mean_at_k"][name] == own["mean_at_k"][name]] or bases
    return next(iter(bases), None)


def _first_row(line: str, own: Mapping[str, Row], base: Mapping[str, Row] | None) -> tuple[str, ...]:
    times = tokens_over_base(own, base)
    return (
        line,
        str(own["mean_at_k"]["num_questions"]),
        cell_text(own["mean_at_k"]) + marks_of(own),
        percent(own["majority_at_k"]["value"]),
        percent(own["parsed_share"]["value"]),
        percent(own["mean_among_parsed"]["value"]) if "mean_among_parsed" in own else "",
        whole(own["tokens_per_question"]["value"]) if "tokens_per_question" in own else "",
        "" if times is None else f"{times:.1f}",
    )


def _cells(rows: pd.DataFrame, benchmarks: list[str], *, signed: bool) -> list[str]:
    found = {row["benchmark"]: row for row in records(rows)}
    return [cell_text(found.get(benchmark), signed) for benchmark in benchmarks]


def _paper_row(row: Row) -> tuple[str, ...]:
    is_run, has_paper = row["value"] is not None, row["paper_value"] is not None
    spread = f" ±{percent(row['paper_std'])}" if row["paper_std"] is not None else ""
    name = row["line"] if is_run else " ".join(filter(None, (row["method"], row["reward"], row["selector"])))
    return (
        row["backbone"],
        str(name),
        row["benchmark"],
        metric_name(row["metric"], int(row["k"])),
        row["protocol"] if is_run else "",
        f"{row['num_questions']} x {row['num_pairs'] // row['num_questions']}" if is_run else "",
        f"{percent(row['paper_value'])}{spread}" if has_paper else "",
        f"{percent(row['value'])} {interval(row)}" if is_run else "",
        percent(row["difference"], signed=True) if is_run and has_paper else "",
        row["verdict"],
        str(row["source"]) if has_paper else "",
    )
