"""What a job reports of its progress, and a null tracker."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class TrackerRun:
    """One cell's run while it is open; this one keeps nothing."""

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Log values at a step; the caller counts steps."""

    def summary(self, values: Mapping[str, Any]) -> None:
        """Log final values, which may be nested; later ones win."""

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """A table that can be browsed."""

    def artifact(self, name: str, kind: str, files: Sequence[Path]) -> None:
        """Files to keep with the run."""


class Tracker(Protocol):
    """Opens one run per cell."""

    def start(
        self,
        cell_folder: Path,
        *,
        run_name: str,
        cell_name: str,
        job_type: str,
        config: Mapping[str, Any],
    ) -> AbstractContextManager[TrackerRun]:
        """The run of a cell, resumed where it exists."""


@dataclass(frozen=True, slots=True)
class NoTracker:
    """Tracks nothing: results.jsonl, metrics.json and the dashboard hold all that a tracker would show."""

    @contextmanager
    def start(
        self,
        cell_folder: Path,
        *,
        run_name: str,
        cell_name: str,
        job_type: str,
        config: Mapping[str, Any],
    ) -> Iterator[TrackerRun]:
        """A run that keeps nothing."""
        yield TrackerRun()
