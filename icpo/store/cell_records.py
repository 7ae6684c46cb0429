"""What a cell writes into its folder, under a lock."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from icpo.errors import ContractError, Interrupted, OtherResults, RecordsError
from icpo.store.codec import decode_result, encode_result, encode_score
from icpo.store.extents import Extent, extents_of, note_extent
from icpo.store.journal import Journal
from icpo.store.journal_file import JOURNAL_NAME
from icpo.store.json_files import encode_line, finished_lines, replace_json
from icpo.store.lock import PACE, Lock, Pace
from icpo.store.manifest import claim, note_resolved, refuse_older
from icpo.store.readers import (
    METRICS_NAME,
    RESULTS_NAME,
    SCORES_NAME,
    keys_used,
    load_lines,
    num_own_results,
    read_metrics,
)
from icpo.store.shared import journals_beside
from icpo.store.status import State, Status
from icpo.store.storage import AppendFile, delete_drafts, explained, replace_file
from icpo.types import QuestionResult, QuestionScore

STORED_NAMES = (JOURNAL_NAME, RESULTS_NAME, SCORES_NAME, METRICS_NAME)

log = logging.getLogger(__name__)


class CellRecords:
    """The folder of a cell, open for one process.

    Journal and results are appended to; scores, metrics and status are replaced whole.
    """

    def __init__(
        self,
        folder: Path,
        *,
        config: Mapping[str, Any],
        config_digest: str,
        pace: Pace = PACE,
        for_grades: bool = False,
    ) -> None:
        """Creates the folder or goes on with it.

        `config` is what `config_digest` is the digest of; it goes into the manifest. With `for_grades` only
        scores and metrics are to be replaced, which cells of version 1 allow too.

        Raises:
            HeldByAnother: another process writes there.
            OtherResults: another configuration or version is stored there.
            RecordsError: what is stored is damaged or has no manifest, or the disk refuses.
        """
        self.folder = folder
        self._key = config_digest
        self._closing = ExitStack()
        with self._closing:
            with explained(folder, "create"):
                folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._closing.enter_context(Lock(folder, pace=pace))
            delete_drafts(folder)
            if not for_grades:
                refuse_older(folder, config)
            stored = (folder / name for name in STORED_NAMES)
            self.manifest = claim(folder, stored, config=config, config_digest=config_digest)
            results = load_lines(folder / RESULTS_NAME, decode_result)
            self._done = {result.key: _num_finals(result) for result in results}
            if not for_grades:
                self._drop_measures_of_lost_results()
            self._results = self._open_results()
            self._closing.callback(lambda: self._results.close())
            self.journal = self._closing.enter_context(
                Journal(folder / JOURNAL_NAME, siblings=lambda: journals_beside(folder))
            )
            self._warn_of_lost_samples(results)
            self._status = Status(folder)
            self._closing = self._closing.pop_all()

    def resolve(self, facts: Mapping[str, Any]) -> None:
        """Note in the manifest what was resolved at first load.

        Later loads must give the same.

        Raises:
            OtherResults: a fact differs from the one that the stored results come from.
        """
        self.manifest = note_resolved(self.folder, self.manifest, facts)

    def resolve_code(self, digests: Mapping[str, str], *, accepts_changes: bool) -> None:
        """Note in the manifest the digests of outside code, by class.

        An accepted change is noted with both.

        Raises:
            OtherResults: it is other code than that of the stored results, and that is not accepted.
        """
        self.manifest = note_resolved(
            self.folder,
            self.manifest,
            {f"the code of {name}": digest for name, digest in digests.items()},
            way_out=" If you have looked and the change leaves results what they are, pass "
            "+accept_code_change=true: the manifest then records both.",
            accepts_changes=accepts_changes,
        )

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The cell's extents in order; the last one holds."""
        return extents_of(self.manifest)

    def extend(self, extent: Extent) -> None:
        """Note in the manifest what the cell covers from now on."""
        self.manifest = note_extent(self.folder, self.manifest, extent)

    def done(self) -> set[tuple[str, int]]:
        """The (question_id, seed) whose results are stored."""
        return set(self._done)

    @property
    def final_counts(self) -> set[int]:
        """How many final samples stored results have."""
        return set(self._done.values())

    def append(self, result: QuestionResult) -> QuestionResult:
        """Store a result for good: its samples, then its line.

        Both are on the disk when this returns.

        Returns it as `load_results` would: its texts are in the journal.

        Raises:
            ValueError: that question and seed are stored already.
            ContractError: it is not what a result should be, so that it could not be read back.
        """
        if result.key in self._done:
            raise ValueError(
                f"question {result.key[0]!r} under seed {result.key[1]} is stored already in {self.folder}"
            )
        row = encode_result(result)
        try:
            stored = decode_result(json.loads(json.dumps(row)))
        except ValueError as error:
            reason = " ".join(str(error).split())
            raise ContractError(f"the result of {result.key[0]!r} could not be read back: {reason}") from None
        self._lock.check()
        self.journal.sync()
        self._results.append(encode_line(row, self._key))
        self._results.sync()
        self._done[result.key] = _num_finals(result)
        return stored

    def replace_results(self, results: Sequence[QuestionResult]) -> None:
        """Replace all results at once by extended ones."""
        self._lock.check()
        self.journal.sync()
        path = self.folder / RESULTS_NAME
        replace_file(path, (encode_line(encode_result(result), self._key) for result in results))
        before, self._results = self._results, AppendFile(path)
        before.close()
        self._done = {result.key: _num_finals(result) for result in results}

    def write_scores(self, scores: Iterable[QuestionScore]) -> None:
        """Replaces scores.jsonl: one line a score."""
        self._lock.check()
        lines = (encode_line(encode_score(score), self._key) for score in scores)
        replace_file(self.folder / SCORES_NAME, lines)

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Replaces metrics.json."""
        self._lock.check()
        replace_json(self.folder / METRICS_NAME, metrics, self._key)

    def mark(self, state: State, reason: str = "", **progress: Any) -> None:
        """Replaces status.json: state, reason, progress such as questions_done, questions_total, tokens.

        A cell that is done also says how many records its journal has, so that a lost one is noticed.
        """
        self._lock.check()
        self._status.mark(state, reason, **progress, journal_records=len(self.journal))

    def close(self) -> None:
        """Closes the files and gives the lock back."""
        self._closing.close()

    def __enter__(self) -> "CellRecords":
        return self

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is not None:
                self._mark_ended_by(error)
        finally:
            self.close()

    def _open_results(self) -> AppendFile:
        path = self.folder / RESULTS_NAME
        size = len(finished_lines(path))
        file = AppendFile(path)
        if file.size > size:
            log.warning("%s: dropped the unfinished last line", path)
            file.cut(size)
        return file

    def _drop_measures_of_lost_results(self) -> None:
        """Deletes scores and metrics of results that are gone: all three are made again from the journal."""
        num_lost = num_own_results(read_metrics(self.folder)) - len(self._done)
        if num_lost > 0:
            log.warning("%s: made again from the journal: %d results that are gone", self.folder, num_lost)
            with explained(self.folder, "tidy"):
                for name in (METRICS_NAME, SCORES_NAME):
                    (self.folder / name).unlink(missing_ok=True)

    def _warn_of_lost_samples(self, results: Iterable[QuestionResult]) -> None:
        """Says that texts of stored results are gone: the results hold, but nothing can be graded again."""
        num_lost = sum(any(key not in self.journal for key in keys_used(result)) for result in results)
        if num_lost:
            log.warning(
                "%s: the journal lacks samples of %d stored results, which stay as they are. "
                "`icpo salvage %s` sets those results aside, and the same command samples "
                "them again.",
                self.folder,
                num_lost,
                self.folder,
            )

    def _mark_ended_by(self, error: BaseException) -> None:
        """Says in the status why the cell ended; if the disk refuses even that, the error says so.

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


def _num_finals(result: QuestionResult) -> int:
    return len(result.finals[-1][1]) if result.finals else 0
