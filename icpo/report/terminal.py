"""The tables that are printed when a run ends."""

from collections.abc import Collection
from textwrap import fill

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from icpo.report.frame import sections
from icpo.report.problems import line_of
from icpo.report.report import Report
from icpo.report.tables import TextTable, first_table, gain_table, paper_table

GAINS = ("mean_at_k", "accuracy")
HEADER_WIDTH = 11  # of a column of numbers: a longer title takes several lines
MIN_WIDTH = 140  # a pipe has no width, and a table folded at 80 columns cannot be read


def print_report(
    report: Report, console: Console | None = None, *, of_command: Collection[str] | None = None
) -> None:
    """Print the tables, the paper's values, gaps and files.

    Of cells that are not done, those named in `of_command` are listed, the others counted; None lists all.
    """
    console = console or Console()
    if not console.is_terminal:
        console = Console(file=console.file, width=max(console.width, MIN_WIDTH))
    console.print(renderable(report, of_command))


def renderable(report: Report, of_command: Collection[str] | None = None) -> RenderableType:
    """All that is printed."""
    parts: list[RenderableType] = []
    for backbone, protocol, _, section in sections(report.frame):
        parts += [_title(f"{backbone}, protocol {protocol}"), *_table(first_table(section))]
        for metric in GAINS:
            gains = gain_table(section, metric)
            parts += _table(gains) if gains.rows else []
    ran = report.paper[report.paper["verdict"] != "not run"]
    if len(ran):
        parts += [_title("Beside the paper (%)"), *_table(paper_table(ran))]
    left = [cell for cell in report.cells if cell.state != "done"]
    listed = [cell for cell in left if of_command is None or cell.folder.name in of_command]
    parts += [Text(line_of(cell), style="red") for cell in listed]
    if others := len(left) - len(listed):
        parts += [
            Text(f"Cells of earlier commands that are not done: {others} (icpo status {report.run_name})")
        ]
    parts += [Text(note, style="yellow") for note in report.notes]
    parts += [Text(str(path)) for path in report.paths]
    return Group(*parts)


def _table(table: TextTable) -> list[RenderableType]:
    """The table with its notes; a line separates values of the first column."""
    shown = Table()
    for i, name in enumerate(table.header):
        is_text = i < table.num_texts
        title = name if is_text else fill(name, HEADER_WIDTH, break_long_words=False)
        shown.add_column(title, justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold")
    for i, row in enumerate(table.rows):
        is_last = i + 1 == len(table.rows) or table.rows[i + 1][0] != row[0]
        texts = ("" if i and table.rows[i - 1][0] == row[0] else row[0], *row[1:])
        shown.add_row(*map(Text, texts), end_section=is_last)
    return [shown, *(Text(note, style="yellow") for note in table.notes)]


def _title(text: str) -> Text:
    return Text(text, style="bold")
