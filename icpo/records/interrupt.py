"""SIGTERM and SIGINT as a flag: what is in hand is finished, then the run ends; a second one ends it now."""

import logging
import os
import signal
import threading
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger(__name__)


class Interrupt:
    """Context manager whose flag a loop polls: `interrupted.is_set()`; `exit_code` then says how to exit.

    Outside the main thread, and under submitit, which has signals of its own for requeueing, it stays aside.
    """

    def __init__(self) -> None:
        self._received: signal.Signals | None = None
        self._previous: dict[signal.Signals, object] = {}

    def is_set(self) -> bool:
        """Whether a signal came."""
        return self._received is not None

    @property
    def exit_code(self) -> int:
        """128 + the signal's number, as a shell reports it; 0 if none came."""
        return 0 if self._received is None else 128 + self._received

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread() and "SUBMITIT_EXECUTOR" not in os.environ:
            for number in _SIGNALS:
                self._previous[number] = signal.signal(number, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._received = signal.Signals(number)
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        log.warning("%s: finishing what is in hand; again to stop at once", self._received.name)
