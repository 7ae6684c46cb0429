"""Files of a run that several processes share."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from icpo.store.lock import Lock
from icpo.store.storage import explained

PLAN_NAME = "planned"
BEGAN = time.time()  # of this process: it imports this module before it plans a cell


def note_planned(run: Path, cells: Iterable[str]) -> None:
    """Add cells to a run's plan, an empty file each.

    Raises:
        RecordsError: the folder cannot be written.
    """
    plan = run / PLAN_NAME
    with explained(plan, "write"):
        plan.mkdir(parents=True, exist_ok=True)
        for cell in cells:
            (plan / cell).touch()


def planned_cells(run: Path, *, since: float = 0.0) -> list[Path]:
    """The folders of all requested cells, by name.

    `since` leaves out those that no command requested after that time, in seconds since 1970.
    """
    plans = (run / PLAN_NAME).glob("*")
    return sorted(run / path.name for path in plans if path.stat().st_mtime >= since)


@contextmanager
def written_in_turn(folder: Path) -> Iterator[Path]:
    """A folder for drafts that replace files in the end.

    One process after another. Whoever comes last has read what all before stored, and no reader sees a part
    of a file. Where the body raises, all stays as it was.

    Raises:
        RecordsError: the disk refuses.
    """
    with explained(folder, "write"):
        folder.mkdir(parents=True, exist_ok=True)
        with Lock(folder, waits=True), TemporaryDirectory(dir=folder, prefix=".") as drafts:
            yield Path(drafts)
            for draft in Path(drafts).iterdir():
                draft.replace(folder / draft.name)
