"""All that a cell stores, in one folder: what a cell writes, and how everybody else reads it."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from icpo.errors import Interrupted, OtherResults, RecordsError
from icpo.store.codec import decode_result, decode_score, encode_result, encode_score
from icpo.store.journal import Journal
from icpo.store.journal_file import JOURNAL_NAME, JournalReader
from icpo.store.lock import Lock
from icpo.store.manifest import MANIFEST_NAME, claim, note_resolved
from icpo.store.status import State, Status
from icpo.store.storage import (
    AppendFile,
    damaged_line,
    delete_drafts,
    explained,
    json_line,
    read_json,
    read_lines,
    replace_file,
    replace_json,
)
from icpo.types import QuestionResult, QuestionScore

RESULTS_NAME = "results.jsonl"
SCORES_NAME = "scores.jsonl"
METRICS_NAME = "metrics.json"

T = TypeVar("T")

log = logging.getLogger(__name__)


class SiblingJournals:
    """The journals of the other cells of a run, looked up anew at each iteration."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __iter__(self) -> Iterator[Path]:
        for path in sorted(self._folder.parent.glob(f"*/{JOURNAL_NAME}")):
            if path.parent.name != self._folder.name:
                yield path


class CellRecords:
    """The folder of a cell, open for the one process that works on it.

    Journal and results are appended to; scores, metrics and status are replaced whole.
    """

    def __init__(self, folder: Path, *, config: Mapping[str, Any], config_digest: str) -> None:
        """Use `CellRecords.open`."""
        self.folder = folder
        self._closing = ExitStack()
        with self._closing:
            with explained(folder, "create"):
                folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._closing.enter_context(Lock(folder))
            delete_drafts(folder)
            self.manifest = claim(folder, config=config, config_digest=config_digest)
            _, size = read_lines(folder / RESULTS_NAME)
            self._done = {result.key for result in load_results(folder)}
            self._results = AppendFile(folder / RESULTS_NAME)
            self._closing.callback(self._results.close)
            if self._results.size > size:
                log.warning("%s: dropped the unfinished last line", folder / RESULTS_NAME)
                self._results.cut(size)
            self.journal = self._closing.enter_context(
                Journal.open(folder / JOURNAL_NAME, siblings=SiblingJournals(folder))
            )
            self._status = Status(folder)
            self._closing = self._closing.pop_all()

    @classmethod
    def open(cls, folder: Path, *, config: Mapping[str, Any], config_digest: str) -> "CellRecords":
        """Creates the folder or goes on with it.

        `config` is what `config_digest` is the digest of; it goes into the manifest.

        Raises:
            RecordsError: another process writes there, another configuration is stored there, what is stored
                is damaged, or the disk refuses.
        """
        return cls(folder, config=config, config_digest=config_digest)

    def resolve(self, facts: Mapping[str, Any]) -> None:
        """Notes in the manifest what was resolved at first load; later loads must give the same.

        Raises:
            RecordsError: a fact differs from the one that the stored results come from.
        """
        self.manifest = note_resolved(self.folder, self.manifest, facts)

    def done(self) -> set[tuple[str, int]]:
        """The (question_id, seed) whose results are stored."""
        return set(self._done)

    def append(self, result: QuestionResult) -> QuestionResult:
        """Stores a result for good: its draws first, then its line, both on the disk when this returns.

        Returns it as `load_results` would: its texts are in the journal.

        Raises:
            ValueError: that question and seed are stored already.
        """
        name = result.key
        if name in self._done:
            raise ValueError(f"question {name[0]!r} under seed {name[1]} is stored already in {self.folder}")
        self._lock.check()
        self.journal.sync()
        line = json_line(encode_result(result))
        self._results.append(line)
        self._results.sync()
        self._done.add(name)
        return decode_result(json.loads(line))

    def write_scores(self, scores: Iterable[QuestionScore]) -> None:
        """Replaces scores.jsonl: one line a score."""
        self._lock.check()
        replace_file(self.folder / SCORES_NAME, (json_line(encode_score(score)) for score in scores))

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Replaces metrics.json."""
        self._lock.check()
        replace_json(self.folder / METRICS_NAME, metrics)

    def mark(self, state: State, reason: str = "", **progress: Any) -> None:
        """Replaces status.json: state, reason, progress such as questions_done, questions_total, tokens."""
        self._lock.check()
        self._status.mark(state, reason, **progress)

    def close(self) -> None:
        """Closes the files and gives the lock back."""
        self._closing.close()

    def __enter__(self) -> "CellRecords":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                self._mark_ended_by(error)
        finally:
            self.close()

    def _mark_ended_by(self, error: BaseException) -> None:
        """Says in the status why the cell ended; if the disk refuses even that, the error tells.

        A run refused because the folder holds other results leaves their status as it was.
        """
        with suppress(RecordsError):
            if isinstance(error, OtherResults) and self._status.put_back():
                return
            if isinstance(error, Interrupted):
                self.mark("interrupted", str(error))
            elif isinstance(error, Exception):
                self.mark("failed", f"{type(error).__name__}: {error}")
            else:
                self.mark("interrupted", "Stopped at once. Run the same command to go on.")


def load_results(folder: Path) -> tuple[QuestionResult, ...]:
    """The results of a cell, in the order they were finished; none if nothing is stored yet.

    Raises:
        RecordsError: the file is damaged, or gone though the cell's metrics come from it.
    """
    return _decoded(folder / RESULTS_NAME, decode_result)


def load_scores(folder: Path) -> tuple[QuestionScore, ...]:
    """The scores of a cell; none if nothing is stored yet.

    Raises:
        RecordsError: the file is damaged, or gone though the cell's metrics come from it.
    """
    return _decoded(folder / SCORES_NAME, decode_score)


def _decoded(path: Path, decode: Callable[[Mapping[str, Any]], T]) -> tuple[T, ...]:
    decoded = []
    for number, row in enumerate(_rows(path), start=1):
        try:
            decoded.append(decode(row))
        except ValueError as error:
            raise damaged_line(path, number) from error
    return tuple(decoded)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """The rows of results.jsonl, in the order they were finished; none if there is no such file yet.

    Raises:
        RecordsError: the file is damaged, or gone though the cell's metrics come from it.
    """
    return _rows(folder / RESULTS_NAME)


def read_scores(folder: Path) -> list[dict[str, Any]]:
    """The rows of scores.jsonl; none if there is no such file yet.

    Raises:
        RecordsError: the file is damaged, or gone though the cell's metrics come from it.
    """
    return _rows(folder / SCORES_NAME)


def _rows(path: Path) -> list[dict[str, Any]]:
    rows, _ = read_lines(path)
    # The metrics are written last: where they stand, the file stood before.
    if not rows and "mean_at_k" in (read_metrics(path.parent) or {}) and not path.exists():
        raise RecordsError(
            f"{path} is gone, though {METRICS_NAME} beside it was measured from it. Restore it, or run the "
            "same command again: it is then made from the journal."
        )
    return rows


def read_metrics(folder: Path) -> dict[str, Any] | None:
    """What metrics.json says, None if there is no such file."""
    return read_json(folder / METRICS_NAME)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What manifest.json says, None if there is no such file."""
    return read_json(folder / MANIFEST_NAME)


def run_cells(outputs: Path, run_name: str) -> list[Path]:
    """The folders of a run's cells, sorted; a folder is a cell once it has a manifest."""
    return sorted(path.parent for path in (outputs / run_name).glob(f"*/{MANIFEST_NAME}"))


def read_texts(folder: Path, draws: Iterable[str]) -> dict[str, str]:
    """The texts of completions by draw (`key/i/j`), from the journals of the cell and of the cells beside it.

    Raises:
        RecordsError: a draw is in none of them.
    """
    wanted: dict[str, list[tuple[int, int, str]]] = {}
    for draw in draws:
        key, i, j = draw.rsplit("/", 2)
        wanted.setdefault(key, []).append((int(i), int(j), draw))
    texts: dict[str, str] = {}
    for path in (folder / JOURNAL_NAME, *SiblingJournals(folder)):
        if not wanted:
            break
        reader = JournalReader(path)
        try:
            if path.exists():
                reader.refresh()
            for key in [key for key in wanted if key in reader]:
                batches = reader.get(key) or []
                texts |= {draw: batches[i][j].text for i, j, draw in wanted.pop(key)}
        finally:
            reader.close()
    if wanted:
        raise RecordsError(
            f"No journal beside {folder} holds the draws {', '.join(list(wanted)[:3])}: the cell of the run "
            "that they came from was deleted. Run the command again to draw anew."
        )
    return texts
