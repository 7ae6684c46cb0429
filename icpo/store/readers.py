"""What a cell's folder holds, as everybody but its writer reads it."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from icpo.errors import RecordsError
from icpo.store.codec import decode_result, decode_score
from icpo.store.journal_file import JOURNAL_NAME, JournalReader
from icpo.store.json_files import Seal, read_json, read_lines
from icpo.store.manifest import MANIFEST_NAME, seal_of
from icpo.types import QuestionResult, QuestionScore

RESULTS_NAME = "results.jsonl"
SCORES_NAME = "scores.jsonl"
METRICS_NAME = "metrics.json"

Stored = TypeVar("Stored", QuestionResult, QuestionScore)

log = logging.getLogger(__name__)


class SiblingJournals:
    """The journals of the other cells of a run, looked up anew at each iteration."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __iter__(self) -> Iterator[Path]:
        for path in sorted(self._folder.parent.glob(f"*/{JOURNAL_NAME}")):
            if path.parent.name != self._folder.name:
                yield path


def run_cells(outputs: Path, run_name: str) -> list[Path]:
    """The folders of a run's cells, sorted; a folder is a cell once it has a manifest."""
    return sorted(path.parent for path in (outputs / run_name).glob(f"*/{MANIFEST_NAME}"))


def load_results(folder: Path) -> tuple[QuestionResult, ...]:
    """The results of a cell, in the order they were finished; none if nothing is stored yet.

    Of several with one question and seed the first counts; the others are logged.

    Raises:
        RecordsError: the file is damaged, or gone though the cell's metrics come from it.
    """
    return _load_measured(folder / RESULTS_NAME, decode_result)


def load_scores(folder: Path) -> tuple[QuestionScore, ...]:
    """The scores of a cell; none if nothing is stored yet. See `load_results`."""
    return _load_measured(folder / SCORES_NAME, decode_score)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """The results of a cell as lines; for readers that have not moved to `load_results`."""
    return _rows(folder / RESULTS_NAME)


def read_scores(folder: Path) -> list[dict[str, Any]]:
    """The scores of a cell as lines; for readers that have not moved to `load_scores`."""
    return _rows(folder / SCORES_NAME)


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = read_lines(path, seal_of(path.parent))
    for number, row in enumerate(rows, start=1):
        if row is None:
            raise damaged_line(path, number)
    if not rows:
        _require_file(path)
    return [row for row in rows if row is not None]


def read_metrics(folder: Path) -> dict[str, Any] | None:
    """What metrics.json says, None if there is no such file. Raises RecordsError if it is damaged."""
    return read_json(folder / METRICS_NAME, seal_of(folder))


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
            f"that they came from was deleted. `python -m icpo.records salvage {folder}` lets the same "
            "command sample them again."
        )
    return texts


def keys_used(result: QuestionResult) -> set[str]:
    """The journal keys of the completions that a result refers to."""
    groups = (*(step.candidates for step in result.trace), *(finals for _, finals in result.finals))
    draws = (candidate.completion.draw for group in groups for candidate in group)
    return {draw.rsplit("/", 2)[0] for draw in draws if draw}


def damaged_line(path: Path, number: int) -> RecordsError:
    """The error for a finished line that is not what the file should hold."""
    return RecordsError(
        f"{path} is damaged at line {number}. Keep what is whole with "
        f"`python -m icpo.records salvage {path.parent}`; what was lost is then made again from the journal."
    )


def load_lines(path: Path, decode: Callable[[Mapping[str, Any]], Stored]) -> tuple[Stored, ...]:
    """The values of a cell's file; none where there is no such file. See `load_results`."""
    found: dict[tuple[str, int], Stored] = {}
    for number, value in enumerate(decoded_lines(path, seal_of(path.parent), decode), start=1):
        if value is None:
            raise damaged_line(path, number)
        if value.key in found:
            log.warning(
                "%s, line %d: a second line of %r under seed %d is left out", path, number, *value.key
            )
        found.setdefault(value.key, value)
    return tuple(found.values())


def decoded_lines(
    path: Path, seal: Seal, decode: Callable[[Mapping[str, Any]], Stored]
) -> list[Stored | None]:
    """The values of the lines of a file, None for a damaged line."""
    values: list[Stored | None] = []
    for row in read_lines(path, seal):
        try:
            values.append(None if row is None else decode(row))
        except ValueError:
            values.append(None)
    return values


def _load_measured(path: Path, decode: Callable[[Mapping[str, Any]], Stored]) -> tuple[Stored, ...]:
    found = load_lines(path, decode)
    if not found:
        _require_file(path)
    return found


def _require_file(path: Path) -> None:
    """Raises RecordsError where a file is gone that metrics were measured from: they are written last."""
    if "mean_at_k" in (read_metrics(path.parent) or {}) and not path.exists():
        raise RecordsError(
            f"{path} is gone, though {METRICS_NAME} beside it was measured from it. Restore it, or run the "
            "same command again: it is then made from the journal."
        )
