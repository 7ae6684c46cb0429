"""What is wrong with a stored cell: every byte of its files is read, nothing is changed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from icpo.errors import RecordsError
from icpo.store.codec import decode_result, decode_score
from icpo.store.journal_file import JOURNAL_NAME, MAGIC, JournalReader, Record, next_record, records_of
from icpo.store.json_files import Seal, finished_lines, read_json
from icpo.store.manifest import MANIFEST_NAME, is_version_1, read_manifest, seal_of
from icpo.store.readers import (
    METRICS_NAME,
    RESULTS_NAME,
    SCORES_NAME,
    SiblingJournals,
    decoded_lines,
    keys_used,
)
from icpo.store.status import stored_status
from icpo.store.storage import explained
from icpo.types import QuestionResult, QuestionScore

NOT_LOOKED_AT = (
    "Not looked at: logs, reports, a tracker's files, and whether grades are right (regrade does that)."
)


@dataclass(frozen=True, slots=True)
class Health:
    """What a cell's files hold. A torn end is no fault: opening the cell drops it.

    `faults` say what is wrong, one line each. A cell of version 1 has no checksums, so that one without
    faults is unchecked rather than sound.
    """

    folder: Path
    is_checked: bool
    num_records: int
    num_journal_bytes: int
    num_damaged_bytes: int
    num_torn_bytes: int
    num_results: int
    num_damaged_results: int
    num_missing_draws: int
    faults: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged or missing, as far as that can be known."""
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

    keys: frozenset[str]
    num_records: int
    num_bytes: int
    num_damaged: int
    num_torn: int


def verify(folder: Path) -> Health:
    """Reads every byte of a cell's journal, results, scores, metrics, status and manifest and checks them."""
    journal = _journal(folder / JOURNAL_NAME)
    faults: list[str] = []
    seal, is_checked = _seal(folder, faults)
    if journal.num_damaged:
        faults.append(f"{JOURNAL_NAME}: {journal.num_damaged} bytes damaged")
    results = decoded_lines(folder / RESULTS_NAME, seal, decode_result)
    scores = decoded_lines(folder / SCORES_NAME, seal, decode_score)
    whole = [result for result in results if result is not None]
    faults += _line_faults(RESULTS_NAME, results)
    faults += _line_faults(SCORES_NAME, scores)
    missing = _without_siblings(folder, {key for result in whole for key in keys_used(result)} - journal.keys)
    if missing:
        faults.append(f"{len(missing)} samples that results refer to are in no journal")
    faults += _metrics_faults(folder, seal, len(scores))
    faults += _status_faults(folder, journal)
    if unscored := {score.key for score in scores if score is not None} - {result.key for result in whole}:
        faults.append(f"{RESULTS_NAME}: {len(unscored)} results are gone that {SCORES_NAME} has scores of")
    return Health(
        folder,
        is_checked,
        num_records=journal.num_records,
        num_journal_bytes=journal.num_bytes,
        num_damaged_bytes=journal.num_damaged,
        num_torn_bytes=journal.num_torn,
        num_results=len({result.key for result in whole}),
        num_damaged_results=len(results) - len(whole),
        num_missing_draws=len(missing),
        faults=tuple(faults),
    )


def survey(file: BinaryIO) -> Iterator[Record | range]:
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


def unique_whole(path: Path, seal: Seal) -> list[QuestionResult]:
    """The results of whole lines; of several with one question and seed the first."""
    found: dict[tuple[str, int], QuestionResult] = {}
    for result in decoded_lines(path, seal, decode_result):
        if result is not None:
            found.setdefault(result.key, result)
    return list(found.values())


def _journal(path: Path) -> _Journal:
    if not path.exists():
        return _Journal(frozenset(), 0, 0, 0, 0)
    with explained(path, "read"), path.open("rb") as file:
        pieces = list(survey(file))
        size = file.seek(0, 2)
    records = [piece for piece in pieces if isinstance(piece, Record)]
    gaps = [piece for piece in pieces if isinstance(piece, range)]
    is_torn = bool(gaps) and gaps[-1].stop == size and (gaps[-1].start > 0 or size < len(MAGIC))
    torn = len(gaps[-1]) if is_torn else 0
    keys = frozenset(record.key for record in records)
    return _Journal(keys, len(records), size, sum(map(len, gaps)) - torn, torn)


def _seal(folder: Path, faults: list[str]) -> tuple[Seal, bool]:
    """How the cell's lines are checked; what is wrong with its manifest is added to `faults`."""
    try:
        manifest = read_manifest(folder)
    except RecordsError as error:
        faults.append(str(error))
        return Seal(is_required=True), True
    if manifest is None:
        faults.append(f"{MANIFEST_NAME} is gone: nothing says what the results come from")
        return Seal(is_required=True), True
    return seal_of(folder), not is_version_1(manifest)


def _line_faults(name: str, values: Sequence[QuestionResult | QuestionScore | None]) -> Iterator[str]:
    whole = [value.key for value in values if value is not None]
    if len(whole) < len(values):
        yield f"{name}: {len(values) - len(whole)} lines damaged"
    if len(set(whole)) < len(whole):
        yield f"{name}: {len(whole) - len(set(whole))} lines repeat a question and seed; the first counts"


def _metrics_faults(folder: Path, seal: Seal, num_scores: int) -> Iterator[str]:
    try:
        metrics = read_json(folder / METRICS_NAME, seal)
    except RecordsError as error:
        yield str(error)
        return
    if metrics is None or "mean_at_k" not in metrics:
        return
    torn = [
        name for name in (RESULTS_NAME, SCORES_NAME) if (path := folder / name).exists() and _is_torn(path)
    ]
    yield from (f"{name}: the last line is cut short, though the cell was measured" for name in torn)
    num_measured = len(metrics.get("seeds", ())) * int(metrics.get("num_questions", 0))
    if num_scores < num_measured:
        yield f"{SCORES_NAME}: {num_measured - num_scores} scores are gone that {METRICS_NAME} rests on"


def _is_torn(path: Path) -> bool:
    with explained(path, "read"):
        return len(finished_lines(path)) < path.stat().st_size


def _status_faults(folder: Path, journal: _Journal) -> Iterator[str]:
    try:
        status = stored_status(folder) or {}
    except RecordsError as error:
        yield str(error)
        return
    num_before = status.get("journal_records", 0)
    if status.get("state") == "done" and journal.num_records < num_before:
        yield f"{JOURNAL_NAME}: {num_before - journal.num_records} of {num_before} records are gone"


def _without_siblings(folder: Path, keys: Iterable[str]) -> set[str]:
    """Those of `keys` that no other cell of the run holds."""
    left = set(keys)
    for path in SiblingJournals(folder):
        if left:
            reader = JournalReader(path)
            reader.refresh()
            reader.close()
            left = {key for key in left if key not in reader}
    return left
