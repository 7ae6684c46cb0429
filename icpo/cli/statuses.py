"""Exit statuses of all commands."""

import signal

FAILED = 1  # a cell failed, a file is damaged, or the output cannot be written
CANNOT_START = 2  # also wrong usage
INTERRUPTED = 128 + signal.SIGINT  # as a shell reports it
