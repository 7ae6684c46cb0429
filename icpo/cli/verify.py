"""`python -m icpo.records verify|salvage|compact|remove PATH`: PATH is the folder of a cell or of a run."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from icpo.errors import IcpoError
from icpo.safe_text import escaped, log_to_terminal
from icpo.store.health import NOT_LOOKED_AT, verify
from icpo.store.repair import cells_at, compact, remove, salvage

ACTIONS = {"verify": verify, "salvage": salvage, "compact": compact}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints one line a cell and its faults; 1 if a cell is not sound, 2 if one cannot be worked on."""
    log_to_terminal()
    parser = argparse.ArgumentParser(prog="python -m icpo.records", description="Looks after stored cells.")
    parser.add_argument(
        "action", choices=[*ACTIONS, "remove"], help="check, keep what is whole, make smaller, or delete"
    )
    parser.add_argument("path", type=Path, help="the folder of a cell or of a run")
    options = parser.parse_args(arguments)
    path = options.path.absolute()
    try:
        if options.action == "remove":
            print(*(f"{folder}: deleted" for folder in remove(path)), sep="\n")
            return 0
        healths = [ACTIONS[options.action](cell) for cell in cells_at(path)]
    except IcpoError as error:
        logging.error("%s", error)
        return 2
    print(escaped("\n".join([*map(str, healths), NOT_LOOKED_AT])))
    return 0 if all(health.is_sound for health in healths) else 1


if __name__ == "__main__":
    sys.exit(main())
