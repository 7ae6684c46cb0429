"""The table that is printed when a run ends."""

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from icpo.metrics import Estimate
from icpo.report.markdown import percent
from icpo.report.report import Report
from icpo.report.sections import Section

METRICS = ("mean_at_k", "accuracy")
MIN_WIDTH = 140  # a pipe tells no width, and a table folded at 80 columns cannot be read


def print_report(report: Report, console: Console | None = None) -> None:
    """Prints the tables, the paper's values where it has them, what is missing, and where the files lie."""
    console = console or Console()
    if not console.is_terminal:
        console = Console(file=console.file, width=max(console.width, MIN_WIDTH))
    console.print(renderable(report))


def renderable(report: Report) -> RenderableType:
    """All that is printed."""
    parts: list[RenderableType] = []
    for section in report.sections:
        for metric in METRICS:
            name = f"{section.metric_name(metric)} (%)"
            parts += [
                _title(f"{name}, {section.backbone}, protocol {section.protocol}"),
                score_table(section, metric),
            ]
    if report.verdicts:
        parts += [_title("Beside the paper (%)"), _paper_table(report)]
    parts += [
        Text(f"{cell.folder.name}: {cell.state} {cell.reason}".rstrip(), style="red")
        for cell in report.cells
        if cell.state != "done"
    ]
    parts += [Text(note, style="yellow") for note in report.notes]
    parts += [Text(str(path)) for path in report.paths]
    return Group(*parts)


def score_table(section: Section, metric: str) -> Table:
    """One metric in percent: rows base, w/ ME-ICPO and difference with its 95% interval."""
    table = Table()
    table.add_column("")
    for benchmark in section.benchmarks:
        table.add_column(benchmark, justify="right")
    for line in section.lines:
        found = (line.estimates.get((metric, b)) for b in section.benchmarks)
        cells = (_cell(estimate, line.is_difference) for estimate in found)
        table.add_row(line.label, *cells, end_section=line.is_difference)
    return table


def _cell(found: Estimate | None, is_difference: bool) -> Text:
    if found is None:
        return Text("")
    if not is_difference:
        spread = "" if found.std_over_seeds is None else f" ±{100 * found.std_over_seeds:.1f}"
        return Text(percent(found.value) + spread)
    style = "green" if found.low > 0 else "red" if found.high < 0 else ""
    interval = f"[{percent(found.low, True)}, {percent(found.high, True)}]"
    return Text(f"{percent(found.value, True)}\n{interval}", style=style)


def _title(text: str) -> Text:
    return Text(text, style="bold")


def _paper_table(report: Report) -> Table:
    """The numbers that both have; table.md lists those that were not run too."""
    table = Table()
    for column in ("backbone", "benchmark", "method", "metric", "paper", "ours", "verdict"):
        table.add_column(column)
    for v in report.verdicts:
        if v.ours is not None:
            p, ours = v.paper, percent(v.ours.value)
            table.add_row(p.backbone, p.benchmark, p.method, p.metric, percent(p.value), ours, v.verdict)
    return table
