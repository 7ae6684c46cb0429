"""A pool of limited processes that ask math-verify."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import OrderedDict
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path

from icpo.errors import IcpoError
from icpo.grading.worker import MAX_SLOWDOWN, READY

_START_SECONDS = 120.0
_GRACE_SECONDS = 1.0  # beyond a worker's own alarm, before it is killed from here
_NUM_REMEMBERED = 50_000
_NUM_QUESTIONS_PER_WORKER = 2000  # then it is replaced, since sympy's caches grow


class GradingError(IcpoError):
    """Answers that cannot be compared because no worker starts."""

    ends_run = True


class Outcome(str, Enum):
    """What became of one question."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNREAD = "unread"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    CRASHED = "crashed"
    NOT_ASKED = "not_asked"

    @property
    def is_exceeded(self) -> bool:
        """Whether a limit ended the question without an answer."""
        return self in (Outcome.TIME_LIMIT, Outcome.MEMORY_LIMIT, Outcome.CRASHED)


class WorkerPool:
    """Asks whether two answers are equal, from any thread.

    Processes start at the first question. Workers are fresh interpreters, never forks of a process that may
    hold threads or torch, and end with it.
    """

    def __init__(self, *, timeout_seconds: float, memory_limit_mb: int, max_workers: int) -> None:
        if timeout_seconds <= 0 or memory_limit_mb < 256 or max_workers < 1:
            raise ValueError(
                "timeout_seconds must be positive, memory_limit_mb at least 256 and max_workers at least 1, "
                f"got {timeout_seconds}, {memory_limit_mb} and {max_workers}"
            )
        self._timeout_seconds = timeout_seconds
        self._memory_limit_mb = memory_limit_mb
        self._places = threading.BoundedSemaphore(max_workers)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._remembered: OrderedDict[tuple[str, str], Outcome] = OrderedDict()
        self.num_exceeded = 0
        self._finalizer = weakref.finalize(self, _end_all, self._idle)

    def ask(self, left: str, right: str) -> Outcome:
        """Whether math-verify holds two answers equal; replies are remembered.

        Raises GradingError if no worker starts.
        """
        with self._lock:
            if (left, right) in self._remembered:
                return self._remembered[left, right]
        with self._places:
            outcome = self._ask_worker(left, right)
            if outcome is Outcome.CRASHED:  # perhaps somebody killed the worker: a second may answer
                outcome = self._ask_worker(left, right)
        with self._lock:
            self.num_exceeded += outcome.is_exceeded
            self._remembered[left, right] = outcome
            if len(self._remembered) > _NUM_REMEMBERED:
                self._remembered.popitem(last=False)
        return outcome

    def _ask_worker(self, left: str, right: str) -> Outcome:
        worker = self._take()
        outcome = worker.ask(left, right)
        if outcome.is_exceeded or worker.num_asked >= _NUM_QUESTIONS_PER_WORKER:
            worker.end()
        else:
            with self._lock:
                self._idle.append(worker)
        return outcome

    def check(self) -> None:
        """Raises GradingError if no worker starts."""
        self._take().end()

    def close(self) -> None:
        """Ends all idle workers; a later question starts new ones."""
        with self._lock:
            _end_all(self._idle)

    def _take(self) -> "_Worker":
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
        return _Worker(self._timeout_seconds, self._memory_limit_mb)


@cache
def require_workers() -> None:
    """Raises GradingError if math-verify cannot be used here; tried once a process."""
    WorkerPool(timeout_seconds=3, memory_limit_mb=1024, max_workers=1).check()


@lru_cache(maxsize=8)
def shared_pool(timeout_seconds: float, memory_limit_mb: int, max_workers: int) -> WorkerPool:
    """The pool with these limits, shared by this process."""
    return WorkerPool(
        timeout_seconds=timeout_seconds, memory_limit_mb=memory_limit_mb, max_workers=max_workers
    )


def _end_all(idle: "list[_Worker]") -> None:
    while idle:
        idle.pop().end()


class _Worker:
    """One process and the pipes to it; used by one thread at a time."""

    def __init__(self, timeout_seconds: float, memory_limit_mb: int) -> None:
        root = str(Path(__file__).resolve().parents[2])
        search_path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        self._timeout_seconds = timeout_seconds
        self._process = subprocess.Popen(
            [sys.executable, "-m", "icpo.grading.worker", str(timeout_seconds), str(memory_limit_mb)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": search_path, "PYTHONSAFEPATH": "1"},
            bufsize=0,
        )
        self.num_asked = 0
        if self._read_line(_START_SECONDS) != READY:
            self.end()
            raise GradingError(
                f"The worker that compares answers did not start with {sys.executable}. "
                "Run python -m icpo.grading.worker 3 1024 to see why (it needs math-verify[antlr4_9_3])."
            )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, left: str, right: str) -> Outcome:
        assert self._process.stdin is not None
        self.num_asked += 1
        try:
            self._process.stdin.write(json.dumps([left, right]).encode() + b"\n")
        except BrokenPipeError:
            return Outcome.CRASHED
        line = self._read_line(self._timeout_seconds * MAX_SLOWDOWN + _GRACE_SECONDS)
        if line:
            return Outcome(line)
        self._process.kill()
        is_late = line is None or self._process.wait() in (-signal.SIGALRM, -signal.SIGPROF)
        return Outcome.TIME_LIMIT if is_late else Outcome.CRASHED

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _read_line(self, seconds: float) -> str | None:
        """The next line; "" if the process ended, None if it took longer."""
        assert self._process.stdout is not None
        descriptor, received = self._process.stdout.fileno(), b""
        poller = select.poll()
        poller.register(descriptor, select.POLLIN | select.POLLHUP)
        deadline = time.monotonic() + seconds
        while not received.endswith(b"\n"):
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not poller.poll(remaining * 1000):
                return None
            if not (chunk := os.read(descriptor, 4096)):
                return ""
            received += chunk
        return received.decode().strip()
