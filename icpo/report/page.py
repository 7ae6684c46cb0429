"""report/table.md and table.tex: tables, counts and problems."""

from collections.abc import Iterable, Sequence

import pandas as pd

from icpo.report.cells import Cell
from icpo.report.frame import benchmarks_of, sections
from icpo.report.problems import gaps, line_of
from icpo.report.rows import pick, records
from icpo.report.tables import (
    METRICS,
    VERDICT_NOTE,
    TextTable,
    first_table,
    majority_table,
    paper_table,
    score_table,
)
from icpo.report.text import escape, markdown_table, metric_name, whole

NOTE = (
    "Values are percentages with 95% intervals (Student's over questions, with two pseudo-questions); ± is "
    "the standard deviation over seeds. A difference is paired: the same questions and seeds on both sides."
)
COUNTS = {
    "answers": "num_answers",
    "unparsed": "num_unparsed",
    "truncated": "num_truncated",
    "timed out": "num_timed_out",
    "blocked questions": "num_blocked",
    "prompt tokens": "prompt_tokens",
    "generated tokens": "generated_tokens",
    "requests": "num_requests",
    "seconds": "wall_seconds",
    "verdicts": "num_verdicts",
    "unread verdicts": "num_unread_verdicts",
}
LATEX_METRICS = ("mean_at_k", "accuracy")


def markdown(
    run_name: str, cells: Sequence[Cell], frame: pd.DataFrame, paper: pd.DataFrame, notes: Sequence[str]
) -> str:
    """The whole page."""
    parts = [f"# {run_name}", *_list("**Not everything is in these tables:**", problems(cells, notes))]
    if len(frame):
        parts += [NOTE]
    for backbone, protocol, k, section in sections(frame):
        parts += [f"## {backbone}, protocol {protocol}", *_blocks(first_table(section))]
        for metric in METRICS:
            parts += [f"### {metric_name(metric, k)}", *_blocks(score_table(section, metric))]
    if len(frame):
        parts += ["## Counts behind the scores", *_blocks(count_table(cells))]
    if frame["is_difference"].any():
        facts = {cell.folder.name: cell.metrics for cell in cells}
        parts += ["## Copying and majorities", *_blocks(majority_table(frame, facts))]
    if len(paper):
        parts += ["## Beside the paper", VERDICT_NOTE, *_blocks(paper_table(paper))]
    parts += _list("## Other cells that are not done", [line_of(cell) for cell in gaps(cells)[1]])
    return "\n\n".join(parts) + "\n"


def problems(cells: Sequence[Cell], notes: Sequence[str]) -> list[str]:
    """Lines on what the tables lack; none when complete."""
    if not cells:
        return ["the run has no cells"]
    return [*map(line_of, gaps(cells)[0]), *notes]


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return [title, "\n".join(f"- {line}" for line in lines)] if lines else []


def count_table(cells: Iterable[Cell]) -> TextTable:
    """Counts behind the scores, a line per cell."""
    scored = [cell for cell in cells if cell.arms]
    columns = {title: name for title, name in COUNTS.items() if any(name in cell.metrics for cell in scored)}
    rows = [
        (
            cell.folder.name,
            str(cell.metrics["num_questions"]),
            str(len(cell.metrics["seeds"])),
            *(whole(cell.metrics.get(name) or 0) for name in columns.values()),
        )
        for cell in scored
    ]
    return TextTable(("cell", "questions", "seeds", *columns), tuple(rows))


def latex(run_name: str, frame: pd.DataFrame) -> str:
    """A LaTeX table in the paper's form; it needs booktabs."""
    benchmarks = list(dict.fromkeys(b for *_, part in sections(frame) for b in benchmarks_of(part)))
    lines = [
        "% Needs \\usepackage{booktabs}.",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{escape(run_name)}: percentages, mean $\\pm$ standard deviation over seeds.}}",
        f"\\begin{{tabular}}{{l{'c' * len(benchmarks)}}}",
        "\\toprule",
        " & ".join(["", *(f"\\textbf{{{escape(b)}}}" for b in benchmarks)]) + r" \\",
    ]
    for metric in LATEX_METRICS:
        for backbone, protocol, k, section in sections(frame):
            title = escape(f"{metric_name(metric, k)} (%), {backbone}, protocol {protocol}")
            head = f"\\multicolumn{{{len(benchmarks) + 1}}}{{c}}{{\\emph{{{title}}}}} \\\\"
            lines += ["\\midrule", head, "\\midrule", *_latex_rows(pick(section, metric=metric), benchmarks)]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", "\\end{table}", ""])


def _latex_rows(rows: pd.DataFrame, benchmarks: Sequence[str]) -> Iterable[str]:
    for (line, base), own in rows.groupby(["line", "base_line"], sort=False):
        label = f"$\\Delta$ {escape(f'{line} to {base}')}" if base else escape(str(line))
        found = {row["benchmark"]: row for row in records(own)}
        yield " & ".join([label, *(_latex_cell(found.get(b)) for b in benchmarks)]) + r" \\"


def _latex_cell(row: object) -> str:
    if not isinstance(row, dict):
        return "--"
    if row["is_difference"]:
        return f"${100 * row['value']:+.2f}$"
    std = row["std_over_seeds"]
    spread = f" \\pm {100 * std:.2f}" if std is not None else ""
    return f"${100 * row['value']:.2f}{spread}$"


def _blocks(table: TextTable) -> list[str]:
    return [markdown_table(table.header, table.rows, num_texts=table.num_texts), *table.notes]
