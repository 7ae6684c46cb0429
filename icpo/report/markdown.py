"""report/table.md: the tables, what they rest on, and what went wrong, for reading."""

from collections.abc import Iterable, Sequence

from icpo.metrics import Estimate
from icpo.report.cells import Arm, Cell
from icpo.report.differences import Difference
from icpo.report.paper import Verdict
from icpo.report.sections import Section

METRICS = ("mean_at_k", "accuracy", "majority_at_k", "pass_at_k")
METHOD_NOTE = (
    "Values are percentages with 95% intervals (bootstrap clustered by question); ± is the standard "
    "deviation over seeds. A difference is paired: the same questions and seeds on both sides."
)
VERDICT_NOTE = "`within`: the paper's value lies in our 95% interval; `above` and `below` say where ours is."


def markdown(
    run_name: str,
    cells: Sequence[Cell],
    sections: Sequence[Section],
    differences: Sequence[Difference],
    verdicts: Sequence[Verdict],
    notes: Sequence[str],
) -> str:
    """The whole page."""
    arms = [arm for cell in cells for arm in cell.arms]
    parts = [f"# {run_name}", *problems(cells, notes)]
    if arms:
        parts += [METHOD_NOTE]
    for section in sections:
        parts += [f"## {section.backbone}, protocol {section.protocol}"]
        parts += [
            f"### {section.metric_name(metric)}\n\n{score_table(section, metric)}" for metric in METRICS
        ]
    if arms:
        parts += ["## What stands behind the scores", _counts(arms)]
    if differences:
        parts += ["## Copying and majorities", _diagnostics(differences)]
    if verdicts:
        parts += ["## Beside the paper", VERDICT_NOTE, _verdict_table(verdicts)]
    return "\n\n".join(parts) + "\n"


def problems(cells: Sequence[Cell], notes: Sequence[str]) -> list[str]:
    """What is missing from the tables and why; nothing when all is there."""
    lines = [
        f"- `{cell.folder.name}` is {cell.state}{': ' if cell.reason else ''}{' '.join(cell.reason.split())}"
        for cell in cells
        if cell.state != "done"
    ]
    lines += [f"- {note}" for note in notes]
    if not cells:
        lines = ["- the run has no cells"]
    return ["**Not everything is in these tables:**\n\n" + "\n".join(lines)] if lines else []


def score_table(section: Section, metric: str) -> str:
    """One metric: rows base, w/ ME-ICPO, difference; columns the benchmarks."""
    rows = []
    for line in section.lines:
        found = (line.estimates.get((metric, benchmark)) for benchmark in section.benchmarks)
        rows.append([line.label, *(cell_text(estimate, line.is_difference) for estimate in found)])
    return table(["", *section.benchmarks], rows)


def cell_text(found: Estimate | None, signed: bool) -> str:
    """`41.2 [35.0, 47.1] ±1.2`; empty for None."""
    if found is None:
        return ""
    spread = "" if found.std_over_seeds is None else f" ±{100 * found.std_over_seeds:.1f}"
    value, low, high = (percent(x, signed) for x in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]{spread}"


def percent(fraction: float, signed: bool = False) -> str:
    """A fraction in percent with one decimal; zero has no minus."""
    return f"{round(100 * fraction, 1) + 0.0:{'+' if signed else ''}.1f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, num_texts: int = 1) -> str:
    """A Markdown table: the first columns text, the others numbers; pipes in cells are escaped."""
    lines = [header, ["---" if i < num_texts else "---:" for i in range(len(header))], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _counts(arms: Sequence[Arm]) -> str:
    columns = {
        "answers": "num_answers",
        "unparsed": "num_unparsed",
        "truncated": "num_truncated",
        "timed out": "num_timed_out",
        "prompt tokens": "prompt_tokens",
        "generated tokens": "generated_tokens",
        "requests": "num_requests",
        "seconds": "wall_seconds",
    }
    by_cell = {arm.cell: arm.metrics for arm in arms}
    if any("num_verdicts" in metrics for metrics in by_cell.values()):
        columns |= {"verdicts": "num_verdicts", "unread verdicts": "num_unread_verdicts"}
    rows = []
    for cell, metrics in by_cell.items():
        counts = (f"{round(metrics.get(name) or 0):,}" for name in columns.values())
        rows.append([cell, str(metrics["num_questions"]), str(len(metrics["seeds"])), *counts])
    return table(["cell", "questions", "seeds", *columns], rows)


def _diagnostics(differences: Sequence[Difference]) -> str:
    rows = []
    for d in differences:
        c, metrics = d.comparison, d.arm.metrics
        shares = (metrics.get(name) for name in ("copy_rate", "tag_accuracy"))
        rows.append(
            [
                d.arm.cell,
                d.base.cell,
                *("" if share is None else percent(share) for share in shares),
                cell_text(c.mean_over_majority, signed=True),
                f"{c.majority_corrected:.1f}",
                f"{c.majority_broken:.1f}",
                str(c.num_questions),
            ]
        )
    header = ["cell", "against", "copy rate", "tag accuracy", "Mean@k minus base Maj@k"]
    return table([*header, "majority corrected", "majority broken", "questions"], rows)


def _verdict_table(verdicts: Sequence[Verdict]) -> str:
    rows = []
    for v in verdicts:
        p = v.paper
        method = p.method if p.reward is None else f"{p.method} ({p.reward}, {p.selector})"
        ours = cell_text(v.ours, signed=False)
        gap = "" if v.ours is None else percent(v.ours.value - p.value, signed=True)
        name = f"{p.backbone}, {p.benchmark}, {method}, {p.metric}"
        rows.append([name, percent(p.value), ours, gap, v.verdict, p.source])
    return table(
        ["backbone, benchmark, method, metric", "paper", "ours", "difference", "verdict", "source"], rows
    )
