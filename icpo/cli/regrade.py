"""Grade stored texts again and list the verdicts that change."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from icpo.cli.output import without_traceback
from icpo.errors import IcpoError
from icpo.safe_text import log_to_terminal

logger = logging.getLogger("icpo")


@without_traceback()
def main(arguments: Sequence[str] | None = None) -> int:
    """Grade each cell again under its own protocol.

    Exit status: 1 when a verdict moved, 2 on an error.

    The answers of finals are read from the stored texts with the rules in force now. A verdict is a final's
    outcome and class, or whether a round's candidate is right. With --write the scores and metrics
    are replaced, and the report is made again; without it nothing changes.
    """
    parser = argparse.ArgumentParser(prog="python -m icpo.regrade", description=__doc__)
    parser.add_argument("run_name", help="a folder of outputs/, e.g. quickstart")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs are")
    parser.add_argument(
        "--write", action="store_true", help="replace scores and metrics where verdicts moved"
    )
    options = parser.parse_args(arguments)
    log_to_terminal()
    from icpo.evaluation.regrading import regrade_run
    from icpo.report import write_report

    try:
        num_moved = regrade_run(options.outputs, options.run_name, write=options.write, say=logger.info)
        if options.write and num_moved:
            write_report(options.outputs, options.run_name)
    except IcpoError as error:
        logger.error("%s", error)
        return 2
    return 1 if num_moved else 0


if __name__ == "__main__":
    sys.exit(main())
