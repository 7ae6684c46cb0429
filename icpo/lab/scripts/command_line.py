"""The command line that scripts share which read a run's stored results."""

import argparse
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from icpo.errors import IcpoError

P = ParamSpec("P")


def run_parser(description: str | None, default_run: str | None = None) -> argparse.ArgumentParser:
    """A parser of [RUN_NAME] [--outputs FOLDER].

    A script adds what else it takes. Without a default it reads RUN ... into `run_names`.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if default_run is None:
        parser.add_argument("run_names", nargs="+", metavar="RUN", help="folders of outputs/")
    else:
        help_ = "a folder of outputs/ (%(default)s)"
        parser.add_argument("run_name", nargs="?", default=default_run, help=help_)
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs are (%(default)s)")
    return parser


def ends_in_a_line(main: Callable[P, None]) -> Callable[P, None]:
    """A main function that prints user errors as one line."""

    @wraps(main)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            main(*args, **kwargs)
        except IcpoError as error:
            raise SystemExit(str(error)) from None

    return guarded
