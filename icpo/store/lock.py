"""One writer per cell: a lock file with a heartbeat.

It is made for network file systems too. `flock` does not work on every cluster, so the lock is a file created
exclusively. Its age is measured against a file touched beside it, by the file server's clock. A holder on
this machine that died is known at once; one elsewhere is taken for dead when its heart stopped for
`stale_seconds`, longer than file attributes are cached. Whatever its clock says, nobody waits longer than
that for a heart that does not beat.
"""

import json
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icpo.errors import HeldByAnother, RecordsError
from icpo.store.storage import DRAFT_SUFFIX, explained, now_text

LOCK_NAME = "lock"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between heartbeats, and of silence that means death."""

    beat_seconds: float = 15.0
    stale_seconds: float = 180.0


PACE = Pace()


def this_process() -> dict[str, Any]:
    """This process's identity: host, pid, start, boot and container."""
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "place": _place(),
        "born": _born(os.getpid()),
        "time": now_text(),
        "token": secrets.token_hex(8),
    }


def is_dead(holder: dict[str, Any]) -> bool:
    """Whether `holder` is known to be gone from this host."""
    if not holder or holder.get("place") != _place():
        return False
    pid = holder.get("pid")
    if type(pid) is not int or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return _born(pid) != holder.get("born")


def holder_of(folder: Path, pace: Pace = PACE) -> dict[str, Any] | None:
    """The living holder of a cell's lock, or None.

    A heartbeat as far in the future does not count: the clock that made it was wrong.
    """
    path = folder / LOCK_NAME
    holder = _read(path)
    if holder is None or is_dead(holder) or abs(_age_seconds(path)) > pace.stale_seconds:
        return None
    return holder


class Lock:
    """The lock of a folder, with a heartbeat in a thread.

    Held from `acquire` to `release`. One that `waits` is for work of seconds: it does not refuse, but takes
    its turn after a living holder.
    """

    def __init__(self, folder: Path, *, waits: bool = False, pace: Pace = PACE) -> None:
        self._path = folder / LOCK_NAME
        self._pace = pace
        self._waits = waits
        self._me = this_process()
        self._stop = threading.Event()
        self._beat_at = 0.0
        self._thread = threading.Thread(target=self._keep_beating, name="icpo-lock", daemon=True)

    def acquire(self) -> None:
        """Takes the lock; takes it over from a dead holder.

        A holder elsewhere is watched until its heart beats or it is stale, so that a requeued job follows its
        killed predecessor by itself.

        Raises:
            HeldByAnother: a living process holds it, and this lock does not wait.
        """
        seen: tuple[object, float] | None = None  # whose heartbeat, and when
        since = time.monotonic()
        while not self._create():
            holder = _read(self._path)
            if holder is None:
                continue
            beat = (holder.get("token"), _beat_time(self._path))
            silent_seconds = time.monotonic() - since if beat == seen else 0.0
            if is_dead(holder) or max(_age_seconds(self._path), silent_seconds) > self._pace.stale_seconds:
                remove_dead(self._path, holder)
                continue
            is_here = holder.get("place") == _place()
            if not self._waits and (is_here or (seen is not None and seen[0] == beat[0] and seen != beat)):
                raise self._refusal(holder)
            if seen is None and not self._waits:
                log.warning("%s is held by %s; waiting to see whether it lives", self._path, _name(holder))
            if beat != seen:
                seen, since = beat, time.monotonic()
            time.sleep(0.1 if self._waits else 1.0)
        self._beat_at = time.monotonic()
        self._thread.start()

    def check(self) -> None:
        """Raises RecordsError if another process took the lock."""
        if time.monotonic() - self._beat_at > self._pace.beat_seconds:
            self._beat()
        if self._stop.is_set():
            raise RecordsError(
                f"{self._path} was taken by {_name(_read(self._path) or {})} while this process gave no sign "
                "of life. Nothing is lost: the other goes on with what is stored."
            )

    def release(self) -> None:
        """Gives the lock back, if it is still this process's own."""
        self._stop.set()
        if (_read(self._path) or {}).get("token") == self._me["token"]:
            with suppress(OSError):
                self._path.unlink()

    def __enter__(self) -> "Lock":
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _create(self) -> bool:
        with explained(self._path, "lock"):
            try:
                fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            except FileExistsError:
                return False
            try:
                os.write(fd, json.dumps(self._me).encode())
            except OSError:
                self._path.unlink()
                raise
            finally:
                os.close(fd)
        return True

    def _keep_beating(self) -> None:
        while not self._stop.wait(self._pace.beat_seconds):
            self._beat()

    def _beat(self) -> None:
        """Shows that this process lives; a lock that is another's by now stops the beat."""
        if self._stop.is_set():
            return
        if (_read(self._path) or {}).get("token") != self._me["token"]:
            self._stop.set()
            return
        self._beat_at = time.monotonic()
        with suppress(OSError):
            os.utime(self._path)

    def _refusal(self, holder: dict[str, Any]) -> HeldByAnother:
        return HeldByAnother(
            f"{self._path.parent} is being written by {_name(holder)}. Wait for it, stop it, or choose "
            f"another run_name; if it is surely gone, delete {self._path}."
        )


def remove_dead(path: Path, holder: dict[str, Any], *, link: Callable[[Path, Path], None] = os.link) -> None:
    """Remove a dead holder's lock; of two that try, one does.

    A living lock moved by mistake, as it had replaced the dead one, is put back. Where a third process has
    created its own meanwhile, that one stays, and the other holder stops at its next heartbeat.
    """
    aside = path.with_name(f".{LOCK_NAME}.{secrets.token_hex(8)}")
    with explained(path, "lock"):
        try:
            path.rename(aside)
        except FileNotFoundError:
            return
        if (_read(aside) or {}).get("token") != holder.get("token"):
            with suppress(FileExistsError):
                link(aside, path)
        else:
            log.warning("took over %s from %s, which is gone", path, _name(holder))
        aside.unlink()


def _name(holder: dict[str, Any]) -> str:
    return f"process {holder.get('pid', '?')} on {holder.get('host', '?')} since {holder.get('time', '?')}"


def _read(path: Path) -> dict[str, Any] | None:
    """The holder in a lock file; {} while it is being written; None if there is no such file."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _beat_time(path: Path) -> float:
    """When the holder last gave a sign of life, by whatever clock; 0 where there is no lock."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _age_seconds(path: Path) -> float:
    """Seconds since the last heartbeat, by the file server's clock if it may be asked, else by ours."""
    probe = path.with_name(f".{LOCK_NAME}.{secrets.token_hex(8)}{DRAFT_SUFFIX}")
    try:
        probe.touch()
        now = probe.stat().st_mtime
        probe.unlink()
    except OSError:
        now = time.time()
    try:
        return now - path.stat().st_mtime
    except OSError:
        return 0.0


def _place() -> str:
    """The kernel's boot and the pid namespace: where equal, a pid means the same process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def _born(pid: int) -> str:
    """When a process started, in the kernel's ticks; "" if unknown, "zombie" for one unreaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "zombie" if fields[0] in "ZX" else fields[19]
