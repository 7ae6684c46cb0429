"""The page of costs of each cell, tokens by purpose."""

from icpo.report.cells import Cell
from icpo.report.dashboard import charts
from icpo.report.dashboard.blocks import Block, chart, heading, note, table
from icpo.report.dashboard.results import Shown
from icpo.report.tables import TextTable
from icpo.report.text import whole

PER_QUESTION = {
    "requests / question": "num_requests",
    "prompt tokens / question": "prompt_tokens",
    "tokens / question": "generated_tokens",
}
TOTALS = {
    "tokens": "generated_tokens",
    "cached prompt tokens": "cached_prompt_tokens",
    "seconds": "wall_seconds",
    "unparsed": "num_unparsed",
    "truncated": "num_truncated",
    "timed out": "num_timed_out",
    "blocked questions": "num_blocked",
}
HIDDEN = ("cached prompt tokens", "timed out", "blocked questions")


def costs_page(shown: Shown) -> list[Block]:
    """A table of cells and a chart of tokens by purpose."""
    cells = [(path, cell) for path, cell, _ in shown.cells if cell.arms]
    header = ("cell", "arm", "benchmark", *PER_QUESTION, "seconds / question", "tokens / second", *TOTALS)
    rows = tuple(_row(cell) for _, cell in cells)
    purposes: dict[tuple[str, str], list[float]] = {}
    for _, cell in cells:
        key = cell.last.key
        line = f"{key.title}, {key.backbone}, {key.protocol}"
        for purpose, tokens in cell.metrics.get("generated_by_purpose", {}).items():
            purposes.setdefault((line, purpose), []).append(tokens / len(cell.last.scores))
    bars = [
        {"line": line, "purpose": purpose, "value": round(mean, 1), "shown": whole(mean)}
        for (line, purpose), values in purposes.items()
        for mean in (sum(values) / len(values),)
    ]
    blocks = [heading("Costs", 1)]
    blocks += [note("Per question and seed where it says so. A prompt is counted once per request.")]
    blocks += table(TextTable(header, rows, 3), "costs", hidden=HIDDEN)
    if bars:
        spec = charts.stacked(bars, "purpose", "generated tokens per question, mean over benchmarks")
        blocks += [heading("Generated tokens per question, by what they are for")]
        blocks += [chart(spec, "tokens-by-purpose")]
    return blocks


def _row(cell: Cell) -> tuple[str, ...]:
    metrics, asked = cell.metrics, len(cell.last.scores)
    seconds, tokens = metrics.get("wall_seconds") or 0, metrics.get("generated_tokens", 0)
    return (
        cell.folder.name,
        cell.last.key.title,
        cell.last.key.benchmark,
        *(whole(metrics.get(name, 0) / asked) for name in PER_QUESTION.values()),
        f"{seconds / asked:.2f}",
        whole(tokens / seconds) if seconds else "",
        *(whole(metrics.get(name)) for name in TOTALS.values()),
    )
