"""Commands `icpo verify`, `salvage`, `compact` and `remove`."""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from icpo.cli.output import without_traceback
from icpo.errors import IcpoError
from icpo.safe_text import escaped, log_to_terminal
from icpo.store.health import NOT_LOOKED_AT, Health, verify
from icpo.store.repair import cells_at, compact, remove, salvage

ACTIONS = {"verify": verify, "salvage": salvage, "compact": compact}


@without_traceback()
def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per cell and its faults."""
    log_to_terminal()
    parser = argparse.ArgumentParser(prog="icpo", description="Look after stored cells.")
    parser.add_argument(
        "action", choices=[*ACTIONS, "remove"], help="check, keep what is whole, make smaller, or delete"
    )
    parser.add_argument("path", type=Path, help="RUN or RUN/CELL, or the folder of a run or a cell")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs are (%(default)s)")
    parser.add_argument("--yes", action="store_true", help="remove without asking")
    options = parser.parse_args(arguments)
    path = (options.path if options.path.exists() else options.outputs / options.path).absolute()
    try:
        if options.action == "remove":
            if not options.yes and not _is_sure(path, cells_at(path)):
                return 1
            print(*(f"{folder}: deleted" for folder in remove(path)), sep="\n")
            return 0
        cells = cells_at(path)
    except IcpoError as error:
        logging.error("%s", error)
        return 2
    found = [_tried(ACTIONS[options.action], cell) for cell in cells]
    healths = [health for health in found if health]
    print(escaped("\n".join([*map(str, healths), NOT_LOOKED_AT])))
    if None in found:
        return 2
    return 0 if all(health.is_sound for health in healths) else 1


def _tried(action: Callable[[Path], Health], cell: Path) -> Health | None:
    """What the action says of a cell; None, which is logged, where it cannot work on it."""
    try:
        return action(cell)
    except IcpoError as error:
        logging.error("%s", error)
        return None


def _is_sure(path: Path, cells: Sequence[Path]) -> bool:
    """Ask before anything is deleted; no answer (no terminal) means no."""
    names = ", ".join(cell.name for cell in cells)
    try:
        answer = input(escaped(f"Delete {path} ({names})? Type yes: "))
    except EOFError:
        answer = ""
    if answer.strip().lower() == "yes":
        return True
    print("Nothing was deleted. Pass --yes to delete without being asked.")
    return False


if __name__ == "__main__":
    sys.exit(main())
