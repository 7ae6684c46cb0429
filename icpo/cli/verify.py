"""`python -m icpo.records verify|salvage|compact PATH`: PATH is the folder of a cell or of a run."""

import argparse
import logging
import sys
from pathlib import Path

from icpo.errors import IcpoError
from icpo.store.repair import cells_at, compact, salvage, verify

ACTIONS = {"verify": verify, "salvage": salvage, "compact": compact}


def main() -> None:
    """Prints one line a cell; exits with 1 if a cell is not sound, with 2 if one cannot be worked on."""
    logging.basicConfig(format="%(message)s")
    parser = argparse.ArgumentParser(prog="python -m icpo.records", description="Looks after stored cells.")
    parser.add_argument("action", choices=ACTIONS, help="check, keep what is whole, or make smaller")
    parser.add_argument("path", type=Path, help="the folder of a cell or of a run")
    arguments = parser.parse_args()
    try:
        healths = [ACTIONS[arguments.action](cell) for cell in cells_at(arguments.path)]
    except IcpoError as error:
        logging.error("%s", error)
        sys.exit(2)
    print(*healths, sep="\n")
    sys.exit(0 if all(health.is_sound for health in healths) else 1)


if __name__ == "__main__":
    main()
