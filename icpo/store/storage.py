"""Writing to disks that may be full, read-only or gone."""

import errno
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from icpo.errors import RecordsError

_WAYS_OUT = {
    errno.ENOSPC: "The disk is full: free some space and run the same command again.",
    errno.EDQUOT: "The disk quota is used up: free some space and run the same command again.",
    errno.EFBIG: "The file may not grow further: raise `ulimit -f` and run the same command again.",
    errno.EROFS: "The file system is read-only: choose another outputs folder, or mount it writable.",
    errno.EACCES: "Permission denied: choose another outputs folder, or change the owner of this one.",
    errno.EPERM: "Permission denied: choose another outputs folder, or change the owner of this one.",
    errno.ENAMETOOLONG: "The name is too long: choose a shorter run_name.",
}


DRAFT_SUFFIX = ".draft"


def now_text() -> str:
    """The time, to the second and with its zone."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


@contextmanager
def explained(path: Path, doing: str) -> Iterator[None]:
    """Turns an OSError into a RecordsError with path and fix."""
    try:
        yield
    except OSError as error:
        way_out = _WAYS_OUT.get(error.errno or 0, "Look after that path and run the same command again.")
        raise RecordsError(
            f"Cannot {doing} {path}: {error.strerror or error}. What was written so far is kept. {way_out}"
        ) from error


class AppendFile:
    """A file that grows by whole pieces.

    A piece that does not fit is taken back before the error is raised. `append` hands the bytes to the
    operating system, which keeps them whatever happens to this process; `sync` makes them outlive the machine
    too. One writer at a time: see `icpo.store.lock`.
    """

    def __init__(self, path: Path) -> None:
        """Opens or creates `path`."""
        self._path = path
        with explained(path, "open"):
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self.size = os.fstat(self._fd).st_size

    def append(self, piece: bytes) -> int:
        """Appends `piece`; returns the offset at which it begins."""
        start, rest = self.size, memoryview(piece)
        with explained(self._path, "write"):
            try:
                while rest:
                    rest = rest[os.write(self._fd, rest) :]
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(self._fd, start)
                raise
        self.size = start + len(piece)
        return start

    def cut(self, size: int) -> None:
        """Drops all after the first `size` bytes."""
        with explained(self._path, "shorten"):
            os.ftruncate(self._fd, size)
        self.size = size

    def sync(self) -> None:
        """Waits until all that was appended is on the disk."""
        with explained(self._path, "write"):
            os.fsync(self._fd)

    def close(self) -> None:
        """Closes the file; what was appended stays."""
        with explained(self._path, "close"):
            os.close(self._fd)


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Replace `path` at once: readers see old or new content."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}{DRAFT_SUFFIX}")
    with explained(path, "write"):
        try:
            with draft.open("wb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise


def delete_drafts(folder: Path) -> None:
    """Delete the drafts of dead writers in `folder`."""
    with explained(folder, "tidy"):
        for draft in folder.glob(f".*{DRAFT_SUFFIX}"):
            draft.unlink(missing_ok=True)
