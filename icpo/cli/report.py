"""`python -m icpo.report RUN_NAME`: a run's report, made again."""

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
    """Write and print reports. Exit status 2 when a run has none."""
    parser = argparse.ArgumentParser(prog="python -m icpo.report", description=main.__doc__)
    parser.add_argument("run_name", nargs="+", help="a folder of outputs/, e.g. quickstart")
    parser.add_argument(
        "--track", action="store_true", help="keep the files with the tracker of the run's cells"
    )
    parser.add_argument(
        "--questions", action="store_true", help="also write questions.csv: a row a question, seed and cell"
    )
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs are")
    options = parser.parse_args(arguments)
    log_to_terminal()
    from icpo.report import print_report, write_questions, write_report

    try:
        for run_name in options.run_name:
            report = write_report(options.outputs, run_name)
            print_report(report)
            if options.questions:
                logger.info("%s", write_questions(options.outputs, run_name))
            if options.track:
                _track(options.outputs / run_name, report.paths)
    except IcpoError as error:
        logger.error("%s", error)
        return 2
    return 0


def _track(run_folder: Path, files: Sequence[Path]) -> None:
    """Hands the files to the tracker that the first cell's configuration names."""
    from icpo.store import read_manifest, run_cells
    from icpo.tracking import log_report, tracker_of

    for cell in run_cells(run_folder.parent, run_folder.name)[:1]:
        config = (read_manifest(cell) or {}).get("config", {})
        log_report(run_folder, files, tracker_of(config.get("tracking", {})))


if __name__ == "__main__":
    sys.exit(main())
