"""Faults of a stored cell, found by reading every byte."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from icpo.errors import RecordsError
from icpo.store.codec import decode_result, decode_score
from icpo.store.journal_file import JOURNAL_NAME, MAGIC, Record, file_size, journal_keys, survey
from icpo.store.json_files import Seal, finished_lines, read_json
from icpo.store.manifest import MANIFEST_NAME, check_cell, is_version_1, read_manifest, seal_in
from icpo.store.readers import (
    GONE,
    METRICS_NAME,
    NOT_COUNTED,
    RESULTS_NAME,
    SCORES_NAME,
    Stored,
    counted,
    decoded_lines,
    keys_used,
    num_measured,
    num_own_results,
    other_journals,
)
from icpo.store.status import STATUS_NAME, stored_status
from icpo.store.storage import explained

NOT_LOOKED_AT = (
    "Not looked at: logs, reports, a tracker's files, and whether grades are right (regrade does that)."
)

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Health:
    """What a cell's files hold, and their faults.

    A torn end is no fault by itself: opening the cell drops it. `faults` say what is wrong, one line each. A
    cell of version 1 has no checksums, so that one without faults is unchecked rather than sound.
    """

    folder: Path
    is_checked: bool
    faults: tuple[str, ...]
    num_records: int = 0
    num_journal_bytes: int = 0
    num_torn_bytes: int = 0
    num_results: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether nothing is known to be damaged or missing."""
        return not self.faults

    @property
    def verdict(self) -> str:
        """`sound`, `unchecked` or `DAMAGED`."""
        return "DAMAGED" if self.faults else "sound" if self.is_checked else "unchecked"

    def __str__(self) -> str:
        head = (
            f"{self.folder}: {self.verdict}; {self.num_records} records in {self.num_journal_bytes} bytes, "
            f"{self.num_torn_bytes} torn at the end; {self.num_results} results"
        )
        if not self.is_checked:
            head += (
                "; version 1 has no checksums: a changed byte of results, scores or metrics goes unnoticed"
            )
        return "\n".join([head, *(f"  {fault}" for fault in self.faults)])


@dataclass(frozen=True, slots=True)
class _Journal:
    """What a journal holds: whole records, and bytes that belong to none."""

    keys: frozenset[str] = frozenset()
    num_records: int = 0
    num_bytes: int = 0
    num_torn: int = 0
    faults: tuple[str, ...] = ()


def verify(folder: Path) -> Health:
    """Check every byte of a cell's files."""
    faults: list[str] = []
    manifest = _tried(faults, lambda: read_manifest(folder))
    if manifest is None:
        gone = f"{MANIFEST_NAME} is gone: nothing says what the results come from"
        return Health(folder, is_checked=True, faults=tuple(faults or [gone]))
    is_checked = not is_version_1(manifest)
    seal = seal_in(manifest)
    _tried(faults, lambda: check_cell(folder, manifest))
    # The status first: what it counts was stored before it, also while a process is at work.
    status = _tried(faults, lambda: stored_status(folder, Seal(is_required=is_checked)))
    metrics = _tried(faults, lambda: read_json(folder / METRICS_NAME, seal))
    journal = _tried(faults, lambda: _journal(folder / JOURNAL_NAME)) or _Journal()
    lines = _tried(faults, lambda: decoded_lines(folder / RESULTS_NAME, seal, decode_result)) or []
    grades = _tried(faults, lambda: decoded_lines(folder / SCORES_NAME, seal, decode_score)) or []
    results, scores = counted(lines, manifest), counted(grades, manifest)
    faults += journal.faults
    faults += _line_faults(RESULTS_NAME, lines, len(results))
    faults += _line_faults(SCORES_NAME, grades, len(scores))
    missing = _without_siblings(
        folder, {key for result in results for key in keys_used(result)} - journal.keys
    )
    if missing:
        faults.append(f"{len(missing)} samples that results refer to are in no journal")
    has_own = metrics is None or num_own_results(metrics) == num_measured(metrics)
    unscored = {score.key for score in scores if has_own} - {result.key for result in results}
    faults += _gone(RESULTS_NAME, len(unscored), f"that {SCORES_NAME} has scores of")
    faults += _gone(SCORES_NAME, num_measured(metrics) - len(scores), f"that {METRICS_NAME} rests on")
    faults += _unfulfilled(status or {}, journal.num_records, len(results))
    faults += _files_gone(folder, status or {})
    num_torn = _tried(faults, lambda: _num_torn(folder / RESULTS_NAME) + _num_torn(folder / SCORES_NAME)) or 0
    return Health(
        folder,
        is_checked,
        tuple(faults),
        num_records=journal.num_records,
        num_journal_bytes=journal.num_bytes,
        num_torn_bytes=journal.num_torn + num_torn,
        num_results=len(results),
    )


def _tried(faults: list[str], read: Callable[[], Found]) -> Found | None:
    """What `read` returns; None where it raises RecordsError, which becomes a fault."""
    try:
        return read()
    except RecordsError as error:
        faults.append(str(error))
        return None


def _journal(path: Path) -> _Journal:
    if not (size := file_size(path)):
        return _Journal()
    with explained(path, "read"), path.open("rb") as file:
        pieces = list(survey(file))
    keys = [piece.key for piece in pieces if isinstance(piece, Record)]
    gaps = [piece for piece in pieces if isinstance(piece, range)]
    is_torn = bool(gaps) and gaps[-1].stop == size and (gaps[-1].start > 0 or size < len(MAGIC))
    torn = gaps.pop() if is_torn else range(0)
    faults = [f"{JOURNAL_NAME}: {sum(map(len, gaps))} bytes damaged in {len(gaps)} places"] if gaps else []
    return _Journal(frozenset(keys), len(keys), size, len(torn), tuple(faults))


def _line_faults(name: str, values: list[Stored | None], num_counted: int) -> Iterator[str]:
    if num_damaged := values.count(None):
        yield f"{name}: {num_damaged} lines damaged"
    if num_left_out := len(values) - num_damaged - num_counted:
        yield f"{name}: {num_left_out} {NOT_COUNTED}"


def _gone(name: str, number: int, whose: str) -> Iterator[str]:
    if number > 0:
        yield f"{name}: {number} of those are gone {whose}"


def _unfulfilled(status: Mapping[str, Any], num_records: int, num_results: int) -> Iterator[str]:
    """What the status counted and is no longer there."""
    counts = (
        (JOURNAL_NAME, "records", "journal_records", num_records),
        (RESULTS_NAME, "results", "questions_done", num_results),
    )
    for name, what, key, number in counts:
        if (before := int(status.get(key, 0))) > number:
            yield f"{name}: {before - number} of {before} {what} are gone"


def _files_gone(folder: Path, status: Mapping[str, Any]) -> Iterator[str]:
    """Files without which a cell was never left."""
    if not (folder / STATUS_NAME).exists() and (folder / RESULTS_NAME).exists():
        yield f"{STATUS_NAME} is gone: nothing says how far the cell was; the same command makes it again"
    if status.get("state") == "done" and not (folder / METRICS_NAME).exists():
        yield f"{METRICS_NAME} {GONE}"


def _num_torn(path: Path) -> int:
    return file_size(path) - len(finished_lines(path))


def _without_siblings(folder: Path, keys: Iterable[str]) -> frozenset[str]:
    """Those of `keys` that no other cell of the run holds."""
    left = frozenset(keys)
    for path in other_journals(folder):
        if left:
            left -= journal_keys(path)
    return left
