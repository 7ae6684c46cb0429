"""Repair of stored cells: salvage, compact, remove."""

import itertools
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from icpo.errors import RecordsError
from icpo.store.codec import decode_result, encode_result
from icpo.store.health import Health, verify
from icpo.store.journal_file import (
    JOURNAL_NAME,
    MAGIC,
    Record,
    journal_keys,
    make_record,
    read_payload,
    survey,
)
from icpo.store.json_files import encode_line
from icpo.store.lock import Lock
from icpo.store.manifest import MANIFEST_NAME, is_version_1, read_manifest, seal_in
from icpo.store.packing import pack, unpack
from icpo.store.readers import (
    METRICS_NAME,
    RESULTS_NAME,
    SCORES_NAME,
    counted,
    decoded_lines,
    keys_used,
    load_results,
    other_journals,
)
from icpo.store.run_files import PLAN_NAME
from icpo.store.status import STATUS_NAME, Status
from icpo.store.storage import explained, replace_file

CELL_FILES = (MANIFEST_NAME, JOURNAL_NAME, RESULTS_NAME, SCORES_NAME, METRICS_NAME, STATUS_NAME)


def cells_at(path: Path) -> list[Path]:
    """The cells at `path`, a cell or run. Raises RecordsError."""
    folder = path.parent if path.is_file() else path
    if _is_cell(folder):
        return [folder]
    cells = sorted(inner for inner in folder.glob("*") if _is_cell(inner))
    if not cells:
        raise RecordsError(
            f"{path} holds neither {JOURNAL_NAME} nor {MANIFEST_NAME}: give the folder of a cell or of a run."
        )
    return cells


def salvage(folder: Path) -> Health:
    """Keep whole records and whole results, so the cell can continue.

    The files as they were stay beside, named `.damaged`. Scores and metrics are set aside with the first
    result: the same command makes them again. Cells of version 1, which cannot go on, keep their results.

    Raises:
        RecordsError: a process is at work on the cell, its manifest is gone or damaged, or the disk refuses.
    """
    with Lock(folder):
        manifest = read_manifest(folder)
        if manifest is None:
            raise RecordsError(
                f"{folder} has no {MANIFEST_NAME}, so that nothing says what its results come from: "
                f"restore it, or delete the cell with `icpo remove {folder}`."
            )
        _salvage_journal(folder)
        if not verify(folder).is_sound:
            _salvage_results(folder, manifest)
    return verify(folder)


def compact(folder: Path) -> Health:
    """Pack every record of a sound cell as tightly as possible.

    Raises:
        RecordsError: the journal is damaged, a process is at work on the cell, or the disk refuses.
    """
    with Lock(folder):
        path = folder / JOURNAL_NAME
        with explained(path, "read"), path.open("rb") as file:
            if any(isinstance(piece, range) for piece in survey(file)):
                raise RecordsError(f"{path} is damaged: run `icpo salvage {folder}` before compact.")
            replace_file(path, itertools.chain([MAGIC], _whole_records(file, repacked=True)))
    return verify(folder)


def remove(path: Path) -> list[Path]:
    """Delete a cell or a run; return the folders deleted.

    Raises:
        RecordsError: it is neither, a process is at work on it, or cells that stay use its samples.
    """
    cells = cells_at(path)
    for cell in cells:
        if users := [
            other.name for other in _cells_beside(cell) if other not in cells and _uses(other, cell)
        ]:
            raise RecordsError(
                f"{cell} holds samples that {', '.join(users)} share with it. Remove the whole run "
                f"({cell.parent}), or remove those cells first."
            )
    for cell in cells:
        with Lock(cell), explained(cell, "delete"):
            shutil.rmtree(cell)
    if path == cells[0].parent:
        with explained(path, "delete"):
            shutil.rmtree(path)
        return [path]
    for cell in cells:
        (cell.parent / PLAN_NAME / cell.name).unlink(missing_ok=True)
    return cells


def _is_cell(folder: Path) -> bool:
    return any((folder / name).is_file() for name in CELL_FILES)


def _cells_beside(cell: Path) -> list[Path]:
    return [other for other in sorted(cell.parent.glob("*")) if other != cell and _is_cell(other)]


def _uses(cell: Path, other: Path) -> bool:
    """Whether results of `cell` refer to samples that of the two only `other` holds."""
    try:
        used = {key for result in load_results(cell) for key in keys_used(result)}
    except RecordsError:
        return False
    return bool((used - journal_keys(cell / JOURNAL_NAME)) & journal_keys(other / JOURNAL_NAME))


def _salvage_journal(folder: Path) -> None:
    path = folder / JOURNAL_NAME
    if not path.exists():
        return
    with explained(path, "read"), path.open("rb") as file:
        if not any(isinstance(piece, range) for piece in survey(file)):
            return
        _set_aside(path)
        replace_file(path, itertools.chain([MAGIC], _whole_records(file)))


def _salvage_results(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Keeps the results whose samples are there; what was made from all of them is set aside."""
    seal, path, can_go_on = seal_in(manifest), folder / RESULTS_NAME, not is_version_1(manifest)
    available = journal_keys(folder / JOURNAL_NAME).union(*map(journal_keys, other_journals(folder)))
    whole = counted(decoded_lines(path, seal, decode_result), manifest)
    kept = [result for result in whole if not can_go_on or keys_used(result) <= available]
    made_again = (SCORES_NAME, METRICS_NAME, STATUS_NAME) if can_go_on else ()
    for name in (RESULTS_NAME, *made_again):
        if (folder / name).exists():
            _set_aside(folder / name)
    replace_file(path, [encode_line(encode_result(result), seal.key) for result in kept])
    if not can_go_on:
        return
    for name in made_again:
        (folder / name).unlink(missing_ok=True)
    Status(folder).mark(
        "interrupted", "salvaged; run the same command again to go on", questions_done=len(kept)
    )


def _whole_records(file: BinaryIO, *, repacked: bool = False) -> Iterator[bytes]:
    for piece in survey(file):
        if isinstance(piece, Record):
            payload = read_payload(file, piece) or b""
            yield make_record(piece.key, pack(unpack(payload), strong=True) if repacked else payload)


def _set_aside(path: Path) -> None:
    with explained(path, "copy"):
        shutil.copyfile(path, path.with_name(f"{path.name}.damaged"))
