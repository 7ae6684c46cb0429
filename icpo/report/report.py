"""The report of a run, made from what is stored: tables, differences, figure."""

from dataclasses import dataclass, replace
from pathlib import Path

from icpo.errors import RecordsError
from icpo.report.cells import Cell, load_cells
from icpo.report.differences import differences_of, pooled_differences
from icpo.report.figure import write_scores
from icpo.report.latex import latex
from icpo.report.markdown import markdown
from icpo.report.paper import Verdict, verdicts
from icpo.report.rows import DifferenceRow, Row, difference_rows, table_rows, write_csv
from icpo.report.sections import Section, sections_of
from icpo.store import written_in_turn


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says, and the files in which it says so."""

    run_name: str
    cells: tuple[Cell, ...]
    sections: tuple[Section, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]
    paths: tuple[Path, ...]


def write_report(outputs: Path, run_name: str) -> Report:
    """Writes table.{md,csv,tex}, differences.csv and scores.{png,pdf} into OUTPUTS/RUN_NAME/report.

    A cell that is missing, failed or unreadable is named in the report; the others stand in it. Writing it
    again from the same results gives the same bytes. Raises RecordsError when the run has no folder.
    """
    if not (outputs / run_name).is_dir():
        raise RecordsError(
            f"There is no run {run_name!r} in {outputs}. Give a run_name that was run; "
            f"found: {', '.join(_runs(outputs)) or 'none'}."
        )
    folder = outputs / run_name / "report"
    with written_in_turn(folder) as drafts:
        report = _write(drafts, load_cells(outputs, run_name), run_name)
    return replace(report, paths=tuple(folder / path.name for path in report.paths))


def _write(folder: Path, cells: tuple[Cell, ...], run_name: str) -> Report:
    arms = [arm for cell in cells for arm in cell.arms]
    differences, notes = differences_of(arms)
    pooled = pooled_differences(differences)
    sections = sections_of(arms, differences, pooled)
    beside_paper = verdicts(arms)
    texts = {
        "table.md": markdown(run_name, cells, sections, differences, beside_paper, notes),
        "table.tex": latex(run_name, sections),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_csv(folder / "table.csv", Row, table_rows(arms, differences))
    write_csv(folder / "differences.csv", DifferenceRow, difference_rows(differences, pooled))
    written = [folder / name for name in ("table.md", "table.csv", "table.tex", "differences.csv")]
    paths = (*written, *write_scores(sections, folder))
    return Report(run_name, cells, sections, beside_paper, notes, paths)


def _runs(outputs: Path) -> list[str]:
    return sorted(path.name for path in outputs.iterdir() if path.is_dir()) if outputs.is_dir() else []
