"""Which cells a run was asked for, begun or not: an empty file each, so that processes only ever add."""

from collections.abc import Iterable
from pathlib import Path

from icpo.records.storage import explained

PLAN_NAME = "planned"


def note_planned(run: Path, cells: Iterable[str]) -> None:
    """Adds cells to the plan of a run. Raises RecordsError where the folder cannot be written."""
    plan = run / PLAN_NAME
    with explained(plan, "write"):
        plan.mkdir(parents=True, exist_ok=True)
        for cell in cells:
            (plan / cell).touch()


def planned_cells(run: Path) -> list[Path]:
    """The folders of all cells that the run was ever asked for, by name; delete a file to forget its cell."""
    return sorted(run / path.name for path in (run / PLAN_NAME).glob("*"))
