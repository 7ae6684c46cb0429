"""What a command does when what it prints cannot be written."""

import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

FAILED = 1  # a cell failed, a file is damaged, or the output cannot be written
CANNOT_START = 2  # also wrong usage
INTERRUPTED = 128 + signal.SIGINT  # as a shell reports it
REFUSALS = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)  # of a write


@contextmanager
def without_traceback() -> Iterator[None]:
    """End with status 1 when standard output or a disk fails."""
    try:
        yield
        if sys.stdout is not None:  # closed from the start, as by `>&-`
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in REFUSALS:  # a bug
            raise
        if not isinstance(error, BrokenPipeError):  # a reader that has seen enough needs no message
            print(f"icpo: {error}", file=sys.stderr)
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the flush at exit fails no more
        sys.exit(FAILED)
