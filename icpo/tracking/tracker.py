"""What a job reports of its progress, and a null tracker."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


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


class Tracker:
    """Opens one run per cell; this one opens runs that keep nothing."""

    __slots__ = ()

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
        """The run of a cell, resumed where it exists."""
        yield TrackerRun()


@dataclass(frozen=True, slots=True)
class NoTracker(Tracker):
    """Tracks nothing: results.jsonl, metrics.json and the dashboard hold all that a tracker would show."""
