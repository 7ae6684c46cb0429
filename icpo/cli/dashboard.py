"""Write static pages that compare runs, and serve them with --serve.

`python -m icpo.dashboard wandb RUN_NAME` saves a view of a run that was uploaded to W&B.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from icpo.cli.output import without_traceback
from icpo.cli.serving import serve
from icpo.errors import IcpoError
from icpo.safe_text import log_to_terminal

logger = logging.getLogger("icpo")
WANDB = "wandb"  # the word that asks for a view on a server instead of pages


@without_traceback()
def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages and print where they are."""
    options = _parser().parse_args(arguments)
    log_to_terminal()
    try:
        first, *run_names = options.run_name
        if first == WANDB and run_names:
            _save_views(run_names, options.project, options.entity)
            return 0
        from icpo.report.dashboard import write_dashboard

        index = write_dashboard(options.outputs, options.run_name, max_questions=options.max_questions)
    except IcpoError as error:
        logger.error("%s", error)
        return 2
    except OSError as error:
        logger.error("The dashboard cannot be written: %s", str(error)[:500])
        return 2
    logger.info("The dashboard: %s", index.resolve().as_uri())
    if options.serve:
        try:
            serve(index.parent, options.port)
        except (OSError, OverflowError) as error:  # OverflowError: no such number
            logger.error("Port %d cannot be used: %s. Choose another with --port.", options.port, error)
            return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m icpo.dashboard", description=__doc__)
    parser.add_argument("run_name", nargs="+", help="folders of outputs/; the pages go into the first")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs are")
    parser.add_argument(
        "--max-questions", type=_count, default=500, help="questions per cell that get a page"
    )
    parser.add_argument("--serve", action="store_true", help="serve the pages on 127.0.0.1 until interrupted")
    parser.add_argument("--port", type=int, default=8765, help="where to serve; 0 takes a free one")
    parser.add_argument("--project", default="icpo", help="the W&B project, for `wandb RUN_NAME`")
    parser.add_argument("--entity", help="the W&B entity; your default one if not given")
    return parser


def _count(text: str) -> int:
    if (number := int(text)) < 0:
        raise argparse.ArgumentTypeError(f"must be at least 0, got {number}")
    return number


def _save_views(run_names: Sequence[str], project: str, entity: str | None) -> None:
    from icpo.tracking.workspace import save_workspace

    for run_name in run_names:
        logger.info("The W&B view: %s", save_workspace(run_name, project=project, entity=entity))


if __name__ == "__main__":
    sys.exit(main())
