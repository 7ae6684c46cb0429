"""The command line that scripts share which read a run's stored results."""

import argparse
from pathlib import Path


def run_parser(description: str | None, default_run: str) -> argparse.ArgumentParser:
    """Reads [RUN_NAME] [--outputs FOLDER] into `run_name` and `outputs`; a script adds what else it takes."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run_name", nargs="?", default=default_run, help="a folder of outputs/ (%(default)s)")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs lie (%(default)s)")
    return parser
