"""The journal of a cell: every completion, by its request's digest."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from icpo.errors import RecordsError
from icpo.store.journal_file import (
    KEY,
    MAGIC,
    JournalReader,
    Record,
    damaged,
    file_size,
    make_record,
    next_record,
)
from icpo.store.packing import pack_batches
from icpo.store.shared import SharedJournals
from icpo.store.storage import AppendFile, explained
from icpo.types import Batches

SECONDS_BETWEEN_SYNCS = 5.0
SECONDS_BETWEEN_LOOKS = 10.0

log = logging.getLogger(__name__)


class Journal:
    """The journal of a cell, reading those of the run's others.

    A record goes to the operating system before `put` returns, so no death of the process loses it. It goes
    to the disk itself within about five seconds and before each stored result, so a machine that dies costs
    seconds of samples and never leaves a result without them. Waiting for the disk at every record would cost
    more than to sample a short summary on a network file system.
    """

    def __init__(
        self,
        path: Path,
        *,
        siblings: Callable[[], SharedJournals] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Opens or creates the journal at `path` for one writer, which must hold the cell's lock.

        A torn tail, left by a death in the middle of a write, is dropped with a warning. `siblings` finds the
        journals of other cells; it is called when a record is first missing here, and they are read on now
        and then. `clock` gives seconds: it decides when records are synced and siblings are read again.

        Raises:
            RecordsError: the file is damaged before its end, is no journal, or cannot be written.
        """
        self._reader = reader = JournalReader(path)
        self._find_siblings, self._clock = siblings, clock
        self._siblings: SharedJournals | None = None
        self._synced = self._looked = clock()
        self.num_read = self.num_written = 0
        size = file_size(path)
        if size:
            reader.refresh(checked=True)
            _check_rest(path, reader.end, size)
        self.num_torn = int(size > reader.end)
        if self.num_torn:
            log.warning("%s: dropped %d bytes of a record cut short", path, size - reader.end)
        self._file = AppendFile(path)
        self._file.cut(reader.end)
        if not reader.end:
            self._file.append(MAGIC)
            reader.end = len(MAGIC)

    def get(self, key: str) -> Batches | None:
        """The completions under `key` in the run's journals, or None.

        Each comes with its draw, `key/i/j`: sample j of batch i.
        """
        batches = self._reader.get(key)
        if batches is None:
            batches = self._beside().get(key)
        self.num_read += batches is not None
        return batches

    def put(self, key: str, batches: Batches) -> Batches:
        """Store completions under `key`, an ASCII digest of their request.

        Returns them with their draws.

        Raises:
            RecordsError: the key has other completions already, or they cannot be written.
            ValueError: `key` is no digest.
        """
        if not KEY.fullmatch(key):
            raise ValueError(f"key must be 1 to 200 characters of [A-Za-z0-9._:=+/-], got {key!r}")
        sampled = [
            [replace(c, draw=f"{key}/{i}/{j}") for j, c in enumerate(batch)]
            for i, batch in enumerate(batches)
        ]
        known = self._reader.get(key)
        if known is not None:
            if known != sampled:
                raise RecordsError(
                    f"{self._reader.path} holds other completions under the key {key}: two requests "
                    "have one key, or one was sampled twice. Choose another run_name to start afresh."
                )
            return known
        self._append(key, pack_batches(batches))
        return sampled

    def __contains__(self, key: str) -> bool:
        """Whether this cell or another of the run holds completions under `key`."""
        return key in self._reader or key in self._beside()

    def __len__(self) -> int:
        """How many records this cell holds."""
        return len(self._reader)

    def sync(self) -> None:
        """Waits until all records are on the disk."""
        self._file.sync()
        self._synced = self._clock()

    def close(self) -> None:
        """Syncs and closes."""
        try:
            self.sync()
        finally:
            self._file.close()
            self._reader.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, key: str, payload: bytes) -> None:
        piece = make_record(key, payload)
        start = self._file.append(piece)
        offset = start + len(piece) - len(payload) - 1
        self._reader.add(Record(key, start, offset, start + len(piece), b""))
        self.num_written += 1
        if self._clock() - self._synced > SECONDS_BETWEEN_SYNCS:
            self.sync()

    def _beside(self) -> SharedJournals:
        """The other cells' journals, read on if the last look was long ago."""
        now = self._clock()
        if self._siblings is None:
            self._siblings = self._find_siblings() if self._find_siblings else SharedJournals(())
        elif now - self._looked <= SECONDS_BETWEEN_LOOKS:
            return self._siblings
        self._siblings.refresh()
        self._looked = now
        return self._siblings


def _check_rest(path: Path, end: int, size: int) -> None:
    """Raises if the bytes after `end` are more than the torn tail of a journal."""
    if size == end:
        return
    with explained(path, "read"), path.open("rb") as file:
        if end == 0 and not MAGIC.startswith(file.read(len(MAGIC))):
            raise RecordsError(f"{path} is no journal: move it away, or choose another run_name.")
        if next_record(file, end + 1) is not None:
            raise damaged(path, end)
