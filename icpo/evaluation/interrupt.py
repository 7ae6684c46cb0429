"""SIGTERM and SIGINT as a flag; a second one ends at once."""

import logging
import os
import signal
import threading
from types import FrameType
from typing import ClassVar

from icpo.errors import Interrupted

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
GRACE_SECONDS = 5.0

log = logging.getLogger(__name__)


class Interrupt:
    """Context manager whose flag a loop polls: `interrupted.is_set()`.

    A loop too busy to poll within `grace_seconds` is interrupted by `Interrupted`: a long completion is
    not waited for. One within another is that other, so that no signal is lost when it is left. Outside the
    main thread, and under submitit, which has signals of its own for requeueing, it stays aside.
    """

    _open: ClassVar["Interrupt | None"] = None

    def __init__(self, grace_seconds: float = GRACE_SECONDS) -> None:
        self._grace_seconds = grace_seconds
        self._received: signal.Signals | None = None
        self._previous: dict[signal.Signals, object] = {}

    def is_set(self) -> bool:
        """Whether a signal came; a loop that asked is not interrupted."""
        if self._received is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return self._received is not None

    def check(self) -> None:
        """Raises Interrupted if a signal came."""
        if self.is_set():
            raise self._interrupted()

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread() and "SUBMITIT_EXECUTOR" not in os.environ:
            if Interrupt._open is not None:
                return Interrupt._open
            Interrupt._open = self
            self._previous = {number: signal.signal(number, self._receive) for number in _SIGNALS}
            self._previous[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._break_off)
        return self

    def __exit__(self, *_: object) -> None:
        if Interrupt._open is self:
            Interrupt._open = None
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._received = signal.Signals(number)
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._grace_seconds)
        log.warning("%s: finishing what is in hand; again to stop at once", self._received.name)

    def _break_off(self, number: int, frame: FrameType | None) -> None:
        raise self._interrupted()

    def _interrupted(self) -> Interrupted:
        name = "a signal" if self._received is None else self._received.name
        return Interrupted(f"Stopped by {name}; what was finished is kept. Run the same command to go on.")
