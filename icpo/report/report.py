"""The report of a run: tables, differences, figure."""

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from icpo.errors import RecordsError
from icpo.report.cells import Cell, load_cells
from icpo.report.differences import differences_of
from icpo.report.figure import write_scores
from icpo.report.frame import score_frame, write_csv
from icpo.report.page import latex, markdown
from icpo.report.paper import comparison
from icpo.store import run_cells, written_in_turn


@dataclass(frozen=True, slots=True)
class Report:
    """A report: what it says, its files, and the paper's numbers."""

    run_name: str
    cells: tuple[Cell, ...]
    frame: pd.DataFrame
    paper: pd.DataFrame
    notes: tuple[str, ...]
    paths: tuple[Path, ...] = ()


def read_report(outputs: Path, run_name: str) -> Report:
    """The report of a stored run. Raises RecordsError without cells."""
    cells = load_cells(outputs, run_name)
    if not cells:
        found = sorted(path.name for path in outputs.glob("*/") if run_cells(outputs, path.name))
        raise RecordsError(
            f"There is no run {run_name!r} in {outputs}. Give a run_name that was run; "
            f"found: {', '.join(found) or 'none'}."
        )
    arms = [arm for cell in cells for arm in cell.arms]
    differences, notes = differences_of(arms)
    frame = score_frame(arms, differences)
    return Report(run_name, cells, frame, comparison(frame), notes)


def write_report(outputs: Path, run_name: str) -> Report:
    """Writes table.{md,csv,tex}, differences.csv and scores.{png,pdf} into OUTPUTS/RUN_NAME/report.

    A cell that is missing, failed or unreadable is named in the report, which holds the others. Writing it
    again from the same results gives the same bytes. Raises RecordsError when there is no such run.
    """
    report = read_report(outputs, run_name)
    folder = outputs / run_name / "report"
    with written_in_turn(folder) as drafts:
        texts = {
            "table.md": markdown(run_name, report.cells, report.frame, report.paper, report.notes),
            "table.tex": latex(run_name, report.frame),
        }
        for name, text in texts.items():
            (drafts / name).write_text(text, encoding="utf-8")
        table, differences = write_csv(report.frame, drafts)
        figures = write_scores(report.frame, drafts)
        paths = drafts / "table.md", table, drafts / "table.tex", differences, *figures
    return replace(report, paths=tuple(folder / path.name for path in paths))
