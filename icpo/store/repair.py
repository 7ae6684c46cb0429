"""Looking after stored cells: verify, salvage what is whole, compact what is finished."""

import itertools
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from icpo.errors import RecordsError
from icpo.store.journal_file import (
    JOURNAL_NAME,
    MAGIC,
    JournalReader,
    Record,
    make_record,
    next_record,
    read_payload,
    records_of,
)
from icpo.store.lock import Lock
from icpo.store.packing import pack, unpack
from icpo.store.results import RESULTS_NAME, SiblingJournals
from icpo.store.storage import explained, json_line, replace_file


@dataclass(frozen=True, slots=True)
class Health:
    """What a cell's files hold. A torn end is no damage: opening the cell drops it."""

    folder: Path
    num_records: int
    num_journal_bytes: int
    num_damaged_bytes: int
    num_torn_bytes: int
    num_results: int
    num_damaged_results: int
    num_missing_draws: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged and every result's draws are there."""
        return not (self.num_damaged_bytes or self.num_damaged_results or self.num_missing_draws)

    def __str__(self) -> str:
        verdict = "sound" if self.is_sound else "DAMAGED"
        return (
            f"{self.folder}: {verdict}; {self.num_records} records in {self.num_journal_bytes} bytes, "
            f"{self.num_damaged_bytes} bytes damaged, {self.num_torn_bytes} torn at the end; "
            f"{self.num_results} results, {self.num_damaged_results} damaged, "
            f"{self.num_missing_draws} draws missing"
        )


def cells_at(path: Path) -> list[Path]:
    """The cells that `path` means: a cell's folder, a file in it, or a run's folder. RecordsError if none."""
    folder = path.parent if path.is_file() else path
    cells = [folder] if (folder / JOURNAL_NAME).exists() else []
    cells = cells or sorted(journal.parent for journal in folder.glob(f"*/{JOURNAL_NAME}"))
    if not cells:
        raise RecordsError(f"{path} holds no {JOURNAL_NAME}: give the folder of a cell or of a run.")
    return cells


def verify(folder: Path) -> Health:
    """Reads every byte of a cell's journal and results and checks them; changes nothing."""
    path = folder / JOURNAL_NAME
    with explained(path, "read"), path.open("rb") as file:
        pieces = list(_survey(file))
    records = [piece for piece in pieces if isinstance(piece, Record)]
    gaps = [piece for piece in pieces if isinstance(piece, range)]
    size = path.stat().st_size
    torn = len(gaps[-1]) if gaps and gaps[-1].stop == size else 0
    rows, num_damaged_results = _whole_rows(folder / RESULTS_NAME)
    return Health(
        folder,
        num_records=len(records),
        num_journal_bytes=size,
        num_damaged_bytes=sum(map(len, gaps)) - torn,
        num_torn_bytes=torn,
        num_results=len(rows),
        num_damaged_results=num_damaged_results,
        num_missing_draws=len(_without_siblings(folder, _keys_drawn(rows) - {r.key for r in records})),
    )


def salvage(folder: Path) -> Health:
    """Keeps every whole record and result line; the files as they were stay beside, named `.damaged`.

    Raises:
        RecordsError: a process is at work on the cell, or the disk refuses.
    """
    with Lock(folder):
        health = verify(folder)
        journal, results = folder / JOURNAL_NAME, folder / RESULTS_NAME
        if health.num_damaged_bytes or health.num_torn_bytes:
            _set_aside(journal)
            with explained(journal, "read"), journal.open("rb") as file:
                replace_file(journal, itertools.chain([MAGIC], _whole_records(file)))
        if health.num_damaged_results:
            _set_aside(results)
            replace_file(results, map(json_line, _whole_rows(results)[0]))
    return verify(folder)


def compact(folder: Path) -> Health:
    """Packs every record of a sound cell anew, as tightly as can be.

    Raises:
        RecordsError: the journal is damaged, a process is at work on the cell, or the disk refuses.
    """
    with Lock(folder):
        if verify(folder).num_damaged_bytes:
            raise RecordsError(
                f"{folder} is damaged: run `python -m icpo.records salvage {folder}` before compact."
            )
        path = folder / JOURNAL_NAME
        with explained(path, "read"), path.open("rb") as file:
            replace_file(path, itertools.chain([MAGIC], _whole_records(file, repacked=True)))
    return verify(folder)


def _whole_records(file: BinaryIO, *, repacked: bool = False) -> Iterator[bytes]:
    for piece in _survey(file):
        if isinstance(piece, Record):
            payload = read_payload(file, piece) or b""
            yield make_record(piece.key, pack(unpack(payload), strong=True) if repacked else payload)


def _set_aside(path: Path) -> None:
    with explained(path, "copy"):
        shutil.copyfile(path, path.with_name(f"{path.name}.damaged"))


def _survey(file: BinaryIO) -> Iterator[Record | range]:
    """All of a journal in order: whole records, and the ranges of bytes between them that are none."""
    size = file.seek(0, 2)
    file.seek(0)
    at = len(MAGIC) if file.read(len(MAGIC)) == MAGIC else 0
    while at < size:
        record = next(records_of(file, at, checked=True), None)
        if record is None:
            record = next_record(file, at + 1)
            yield range(at, size if record is None else record.start)
        if record is None:
            return
        yield record
        at = record.end


def _whole_rows(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The rows of results.jsonl that are whole, and how many finished lines are not."""
    lines = path.read_bytes().split(b"\n") if path.exists() else [b""]
    rows, num_damaged = [], 0
    for line in lines[:-1]:
        try:
            row = json.loads(line)
            rows.append(row | {"seed": row["seed"], "question_id": row["question_id"]})
        except (ValueError, TypeError, KeyError):
            num_damaged += 1
    return rows, num_damaged


def _keys_drawn(rows: list[dict[str, Any]]) -> set[str]:
    """The journal keys that results refer to."""
    candidates = [
        candidate
        for row in rows
        for group in (
            *(step["candidates"] for step in row["trace"]),
            *(finals for _, finals in row["finals"]),
        )
        for candidate in group
    ]
    return {candidate["draw"].rsplit("/", 2)[0] for candidate in candidates if candidate["draw"]}


def _without_siblings(folder: Path, keys: set[str]) -> set[str]:
    """Those of `keys` that no other cell of the run holds."""
    for path in SiblingJournals(folder):
        if keys:
            reader = JournalReader(path)
            reader.refresh()
            reader.close()
            keys = {key for key in keys if key not in reader}
    return keys
