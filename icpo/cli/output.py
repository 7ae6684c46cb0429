"""What a command does when what it prints cannot be written."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

FAILED_STATUS = 1


@contextmanager
def without_traceback() -> Iterator[None]:
    """End with status 1 where standard output is gone (a pipe to `head`) or a disk refuses: no traceback."""
    try:
        yield
        if sys.stdout is not None:  # closed from the start, as by `>&-`
            sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # a reader that has seen enough needs no message
            print(f"icpo: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit fails no more
        sys.exit(FAILED_STATUS)
