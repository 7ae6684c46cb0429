"""`python -m icpo.dashboard RUN_NAME [OTHER ...]`: static pages over runs, served if asked."""

import argparse
import logging
import sys
from collections.abc import Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from icpo.errors import IcpoError

logger = logging.getLogger("icpo")


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the pages and says where they are; 2 when a run cannot be shown."""
    parser = argparse.ArgumentParser(prog="python -m icpo.dashboard", description=main.__doc__)
    parser.add_argument("run_name", nargs="+", help="folders of outputs/; the pages go into the first")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs lie")
    parser.add_argument("--max-questions", type=int, default=500, help="questions per cell that get a page")
    parser.add_argument(
        "--serve", type=int, metavar="PORT", help="serve the pages on 127.0.0.1 until interrupted"
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    from icpo.reporting.dashboard import write_dashboard

    try:
        index = write_dashboard(options.outputs, options.run_name, max_questions=options.max_questions)
    except IcpoError as error:
        logger.error("%s", error)
        return 2
    logger.info("The dashboard: %s", index.resolve().as_uri())
    if options.serve is not None:
        serve(index.parent, options.serve)
    return 0


def serve(folder: Path, port: int) -> None:
    """Serves a folder on 127.0.0.1 until interrupted."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        logger.info("Serving on http://127.0.0.1:%d (Ctrl-C ends)", server.server_address[1])
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            logger.info("Stopped.")


if __name__ == "__main__":
    sys.exit(main())
