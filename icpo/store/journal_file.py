"""The file format of a journal, and how one is read.

A file is the line `icpo-journal 1` and then records: a line `@KEY SIZE CRC`, SIZE packed bytes, a line end.
The payload is binary because base64 would make a cell a third larger. A reader hops from header to header.
"""

import mmap
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from icpo.errors import RecordsError
from icpo.store.packing import unpack_batches
from icpo.store.storage import explained
from icpo.types import Batches

JOURNAL_NAME = "journal.bin"
MAGIC = b"icpo-journal 1\n"
KEY = re.compile(r"[A-Za-z0-9._:=+/-]{1,200}")
_HEADER = re.compile(rb"@([A-Za-z0-9._:=+/-]{1,200}) (\d{1,12}) ([0-9a-f]{8})\n")
_MAX_HEADER_BYTES = 256


class Record(NamedTuple):
    """A record's place: header at `start`, payload at `offset`, until `end`."""

    key: str
    start: int
    offset: int
    end: int
    crc: bytes


def records_of(file: BinaryIO, start: int, *, checked: bool) -> Iterator[Record]:
    """The whole records from `start`; `checked` reads payloads too."""
    size = file.seek(0, os.SEEK_END)
    file.seek(start)
    while header := _HEADER.fullmatch(file.readline(_MAX_HEADER_BYTES)):
        offset = file.tell()
        record = Record(
            header[1].decode(), offset - len(header[0]), offset, offset + int(header[2]) + 1, header[3]
        )
        if record.end > size or (checked and read_payload(file, record) is None):
            return
        file.seek(record.end - 1)
        if file.read(1) != b"\n":
            return
        yield record


def next_record(file: BinaryIO, start: int) -> Record | None:
    """The first whole record at or after `start`."""
    if start >= file.seek(0, os.SEEK_END):
        return None
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for header in _HEADER.finditer(content, start):
            for record in records_of(file, header.start(), checked=True):
                return record
    return None


def survey(file: BinaryIO) -> Iterator[Record | range]:
    """All of a journal in order: whole records and damaged ranges.

    A first line that is missing is an empty range.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(len(MAGIC)) == MAGIC:
        at = len(MAGIC)
    else:
        at = 0 if (first := next_record(file, 0)) is None else first.start
        yield range(at if first else size)
    while at < size:
        record = next(records_of(file, at, checked=True), None)
        if record is None:
            record = next_record(file, at + 1)
            yield range(at, size if record is None else record.start)
        if record is None:
            return
        yield record
        at = record.end


def read_payload(file: BinaryIO, record: Record) -> bytes | None:
    """The packed completions of a record; None if damaged."""
    file.seek(record.offset)
    payload = file.read(record.end - 1 - record.offset)
    return payload if _crc(record.key, payload) == record.crc else None


def batches_at(file: BinaryIO, path: Path, start: int, key: str) -> Batches:
    """The completions of the record `key` at `start`. Raises RecordsError where it is damaged."""
    record = next(records_of(file, start, checked=False), None)
    payload = read_payload(file, record) if record is not None and record.key == key else None
    if payload is None:
        raise damaged(path, start)
    return unpack_batches(key, payload)


def make_record(key: str, payload: bytes) -> bytes:
    """The bytes of a record."""
    return b"@%s %d %s\n%s\n" % (key.encode(), len(payload), _crc(key, payload), payload)


def _crc(key: str, payload: bytes) -> bytes:
    return b"%08x" % zlib.crc32(payload, zlib.crc32(key.encode()))


class JournalReader:
    """One journal file, read only, with keys and offsets in memory.

    The file may grow while it is read: an unfinished record at its end is left for the next `refresh`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self._starts: dict[str, int] = {}
        self.end = 0

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._starts)

    def __contains__(self, key: str) -> bool:
        return key in self._starts

    def add(self, record: Record) -> None:
        """Enters a record that was just written."""
        self._starts.setdefault(record.key, record.start)
        self.end = record.end

    def refresh(self, *, checked: bool = False) -> None:
        """Reads on from where the last look ended."""
        with explained(self.path, "read"):
            file = self._opened()
            if self.end == 0:
                file.seek(0)
                if file.read(len(MAGIC)) != MAGIC:
                    return
                self.end = len(MAGIC)
            for record in records_of(file, self.end, checked=checked):
                self.add(record)

    def get(self, key: str) -> Batches | None:
        """The completions stored under `key`, None if there are none.

        Raises:
            RecordsError: what is stored does not match its checksum.
        """
        start = self._starts.get(key)
        if start is None:
            return None
        with explained(self.path, "read"):
            return batches_at(self._opened(), self.path, start, key)

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._file = self.path.open("rb")
        return self._file


def journal_keys(path: Path) -> frozenset[str]:
    """The keys of a journal's records; none without the file."""
    reader = JournalReader(path)
    if file_size(path):
        reader.refresh()
    reader.close()
    return frozenset(reader)


def damaged(path: Path, offset: int) -> RecordsError:
    """The error for a journal with damage before its end."""
    return RecordsError(
        f"{path} is damaged at byte {offset}, before its end. Keep every record that is whole with "
        f"`icpo salvage {path.parent}` and run the same command again: only what was lost is sampled again."
    )


def file_size(path: Path) -> int:
    """The size of a file in bytes, 0 if there is none."""
    with explained(path, "read"):
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0
