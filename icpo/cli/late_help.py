"""Support for released versions of Hydra on Python 3.14."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def late_help_texts() -> Iterator[None]:
    """Let argparse accept a help text that is rendered late.

    Hydra renders the help of --shell-completion when it is shown (hydra#3121). Texts are checked as ever.
    """
    check = getattr(argparse.ArgumentParser, "_check_help", None)
    if check is None:
        yield
        return

    def check_text(parser: argparse.ArgumentParser, action: argparse.Action) -> None:
        if isinstance(action.help, str):
            check(parser, action)

    argparse.ArgumentParser._check_help = check_text  # type: ignore[attr-defined]
    try:
        yield
    finally:
        argparse.ArgumentParser._check_help = check  # type: ignore[attr-defined]
