"""`python -m icpo.report RUN_NAME`: makes a run's report again from what is stored."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from icpo.errors import IcpoError

logger = logging.getLogger("icpo")


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes and prints the reports; 2 when a run cannot be reported."""
    parser = argparse.ArgumentParser(prog="python -m icpo.report", description=main.__doc__)
    parser.add_argument("run_name", nargs="+", help="a folder of outputs/, e.g. quickstart")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs lie")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    from icpo.reporting import print_report, write_report

    try:
        for run_name in options.run_name:
            print_report(write_report(options.outputs, run_name))
    except IcpoError as error:
        logger.error("%s", error)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
