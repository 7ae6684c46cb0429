"""The journals of a run's other cells as one index."""

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from icpo.errors import RecordsError
from icpo.store.journal_file import JOURNAL_NAME, MAGIC, batches_at, records_of
from icpo.store.manifest import MANIFEST_NAME, read_manifest
from icpo.store.storage import explained
from icpo.types import Batches

log = logging.getLogger(__name__)


class Sharing(NamedTuple):
    """What cells that share samples have in common."""

    engine: Any
    questions: str


class SharedJournals:
    """Where each record of several journals is."""

    def __init__(self, paths: Iterable[Path]) -> None:
        """`paths` are gone through again at each `refresh`, so pass a collection, not a generator."""
        self._paths = paths
        self._ends: dict[tuple[Path, int], int] = {}  # by path and inode: a file made again is another
        self._places: dict[str, tuple[Path, int]] = {}

    def refresh(self) -> None:
        """Read on from where the last look ended."""
        for path in self._paths:
            with explained(path, "read"):
                try:
                    found = path.stat()
                except FileNotFoundError:
                    continue
                file = path, found.st_ino
                end = self._ends.get(file, 0)
                if found.st_size != end:
                    self._ends[file] = self._index(path, end if end < found.st_size else 0)

    def get(self, key: str) -> Batches | None:
        """The completions under `key`; None if missing or damaged."""
        if key not in self._places:
            return None
        path, start = self._places[key]
        try:
            with explained(path, "read"), path.open("rb") as file:
                return batches_at(file, path, start, key)
        except RecordsError as error:
            log.warning("sampling again what another cell holds: %s", error)
            del self._places[key]
            return None

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def _index(self, path: Path, end: int) -> int:
        with path.open("rb") as file:
            if not end:
                if file.read(len(MAGIC)) != MAGIC:
                    return 0
                end = len(MAGIC)
            for record in records_of(file, end, checked=False):
                self._places.setdefault(record.key, (path, record.start))
                end = record.end
        return end


def journals_beside(folder: Path) -> SharedJournals:
    """The journals whose samples this cell can use, as one index."""
    return _journals_of(folder.parent, _sharing(folder / MANIFEST_NAME))


@lru_cache(maxsize=1)
def _journals_of(run: Path, sharing: Sharing) -> SharedJournals:
    return SharedJournals(_Sharing(run, sharing))


@dataclass(frozen=True, slots=True)
class _Sharing:
    """The journals of those cells of a run that share, looked up again at each iteration."""

    run: Path
    sharing: Sharing

    def __iter__(self) -> Iterator[Path]:
        for path in sorted(self.run.glob(f"*/{JOURNAL_NAME}")):
            if _sharing(path.with_name(MANIFEST_NAME)) == self.sharing:
                yield path


def _sharing(manifest: Path) -> Sharing:
    try:
        found = manifest.stat()
    except OSError:
        return Sharing(None, "")
    return _read_sharing(manifest, (found.st_mtime_ns, found.st_size, found.st_ino))


@cache
def _read_sharing(manifest: Path, stamp: tuple[int, ...]) -> Sharing:
    """What a manifest says, read once for each of its states."""
    try:
        found = read_manifest(manifest.parent) or {}
    except RecordsError:
        found = {}
    benchmark = found.get("config", {}).get("benchmark") or {}
    questions = [benchmark.get("source"), benchmark.get("path")] if isinstance(benchmark, dict) else []
    return Sharing(found.get("resolved", {}).get("engine_identity"), json.dumps(questions, sort_keys=True))
