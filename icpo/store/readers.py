"""What a cell's folder holds, as everybody but its writer reads it."""

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from icpo.errors import RecordsError
from icpo.store.codec import decode_result, decode_score
from icpo.store.extents import covered_keys
from icpo.store.journal_file import JOURNAL_NAME, JournalReader
from icpo.store.json_files import Seal, read_json, read_lines
from icpo.store.manifest import MANIFEST_NAME, read_manifest, seal_in, seal_of
from icpo.store.shared import SharedJournals, journals_beside
from icpo.types import Batches, QuestionResult, QuestionScore

RESULTS_NAME = "results.jsonl"
SCORES_NAME = "scores.jsonl"
METRICS_NAME = "metrics.json"
GONE = "is gone, though the cell is done; the same command makes it again"
NOT_COUNTED = "lines do not count: they repeat a question and seed, or the cell was never to cover theirs"

Stored = TypeVar("Stored", QuestionResult, QuestionScore)

log = logging.getLogger(__name__)


def other_journals(folder: Path) -> list[Path]:
    """The journals of the other cells of a run."""
    found = sorted(folder.parent.glob(f"*/{JOURNAL_NAME}"))
    return [path for path in found if path.parent.name != folder.name]


def run_cells(outputs: Path, run_name: str) -> list[Path]:
    """The folders of a run that hold a manifest, sorted."""
    return sorted(path.parent for path in (outputs / run_name).glob(f"*/{MANIFEST_NAME}"))


def load_results(folder: Path) -> tuple[QuestionResult, ...]:
    """The results of a cell, in the order they were finished.

    Of several with one question and seed the first counts; the others are logged.

    Raises:
        RecordsError: the file is damaged, or lines are gone that the cell's metrics come from.
    """
    return _load_measured(folder / RESULTS_NAME, decode_result, num_own_results)


def load_scores(folder: Path) -> tuple[QuestionScore, ...]:
    """The scores of a cell, if any. See `load_results`."""
    return _load_measured(folder / SCORES_NAME, decode_score, num_measured)


def read_metrics(folder: Path) -> dict[str, Any] | None:
    """The metrics, or None. Raises RecordsError if the file is damaged."""
    return read_json(folder / METRICS_NAME, seal_of(folder))


def read_finished(folder: Path, status: Mapping[str, Any]) -> dict[str, Any] | None:
    """The metrics, None only of a cell that is not done.

    Raises:
        RecordsError: the file is damaged, or gone though the cell's status says that it is done.
    """
    metrics = read_metrics(folder)
    if metrics is None and status.get("state") == "done":
        raise RecordsError(f"{METRICS_NAME} {GONE}")
    return metrics


class Texts:
    """The texts of a cell's completions, from the run's journals."""

    def __init__(self, folder: Path) -> None:
        """Index the cell's journal, if it has one. Raises RecordsError where it cannot be read."""
        self._folder = folder
        self._reader = JournalReader(folder / JOURNAL_NAME)
        if self._reader.path.exists():
            self._reader.refresh()
        self._beside: SharedJournals | None = None

    def of(self, draws: Iterable[str]) -> dict[str, str]:
        """The texts by draw (`key/i/j`).

        Raises:
            RecordsError: a draw is in no journal.
        """
        wanted: dict[str, list[tuple[int, int, str]]] = {}
        for draw in draws:
            key, i, j = draw.rsplit("/", 2)
            wanted.setdefault(key, []).append((int(i), int(j), draw))
        texts: dict[str, str] = {}
        for key, samples in wanted.items():
            batches = self._get(key)
            texts |= {draw: batches[i][j].text for i, j, draw in samples}
        return texts

    def _get(self, key: str) -> Batches:
        batches = self._reader.get(key)
        if batches is None:
            if self._beside is None:
                self._beside = journals_beside(self._folder)
                self._beside.refresh()
            batches = self._beside.get(key)
        if batches is None:
            raise RecordsError(
                f"No journal beside {self._folder} holds the samples {key}: the cell of the run that they "
                f"came from was deleted. `icpo salvage {self._folder}` lets the same "
                "command sample them again."
            )
        return batches

    def close(self) -> None:
        """Close the journal."""
        self._reader.close()

    def __enter__(self) -> "Texts":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def keys_used(result: QuestionResult) -> set[str]:
    """The journal keys of the completions that a result refers to."""
    groups = (*(step.candidates for step in result.trace), *(finals for _, finals in result.finals))
    draws = (candidate.completion.draw for group in groups for candidate in group)
    return {draw.rsplit("/", 2)[0] for draw in draws if draw}


def load_lines(path: Path, decode: Callable[[Mapping[str, Any]], Stored]) -> tuple[Stored, ...]:
    """The values of a cell's file; none without the file.

    Raises RecordsError where a line is damaged.
    """
    manifest = read_manifest(path.parent) or {}
    values = decoded_lines(path, seal_in(manifest), decode)
    if None in values:
        raise RecordsError(
            f"{path} is damaged at line {values.index(None) + 1}. Keep what is whole with "
            f"`icpo salvage {path.parent}`; what was lost is then made again from the journal."
        )
    found = counted(values, manifest)
    if len(found) < len(values):
        log.warning("%s: %d %s", path, len(values) - len(found), NOT_COUNTED)
    return found


def decoded_lines(
    path: Path, seal: Seal, decode: Callable[[Mapping[str, Any]], Stored]
) -> list[Stored | None]:
    """The values of a file's lines, None for a damaged one."""
    values: list[Stored | None] = []
    for row in read_lines(path, seal):
        try:
            values.append(None if row is None else decode(row))
        except ValueError:
            values.append(None)
    return values


def counted(values: Iterable[Stored | None], manifest: Mapping[str, Any]) -> tuple[Stored, ...]:
    """The first whole value of each covered question and seed."""
    covered = covered_keys(manifest)
    found: dict[tuple[str, int], Stored] = {}
    for value in values:
        if value is not None and (covered is None or value.key in covered):
            found.setdefault(value.key, value)
    return tuple(found.values())


def num_measured(metrics: Mapping[str, Any] | None) -> int:
    """How many results, one a question and seed, metrics were measured from."""
    if metrics is None or "mean_at_k" not in metrics:
        return 0
    return len(metrics.get("seeds", ())) * int(metrics.get("num_questions", 0))


def num_own_results(metrics: Mapping[str, Any] | None) -> int:
    """How many of these the cell itself holds."""
    return 0 if "training" in (metrics or {}) else num_measured(metrics)


def _load_measured(
    path: Path,
    decode: Callable[[Mapping[str, Any]], Stored],
    num_expected: Callable[[Mapping[str, Any] | None], int],
) -> tuple[Stored, ...]:
    found = load_lines(path, decode)
    num_gone = num_expected(read_metrics(path.parent)) - len(found)
    if num_gone > 0:
        raise RecordsError(
            f"{path}: {num_gone} lines are gone that {METRICS_NAME} beside it was measured from. Restore the "
            "file, or run the same command again: they are then made from the journal."
        )
    return found
