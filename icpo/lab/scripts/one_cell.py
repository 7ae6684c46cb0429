"""One cell for each place of a table."""

from collections.abc import Iterable
from pathlib import Path

from icpo.errors import RecordsError

Key = tuple[object, ...]


def one_each(cells: Iterable[tuple[Key, Path]]) -> dict[Key, Path]:
    """Cells by what a table knows them by.

    Raises RecordsError where two have one key, as where a setting was swept that the table does not show.
    """
    found: dict[Key, Path] = {}
    for key, cell in cells:
        other = found.setdefault(key, cell)
        if other != cell:
            raise RecordsError(
                f"{other} and {cell} are both {', '.join(str(part) for part in key if part)}, and the table "
                "has one place for them: give it runs that hold one of the two."
            )
    return found
