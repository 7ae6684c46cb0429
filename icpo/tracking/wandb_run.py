"""One W&B run, whose errors never fail a cell."""

import hashlib
import importlib
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from icpo.tracking.tracker import TrackerRun

log = logging.getLogger(__name__)

ID_FILE = "wandb_id.txt"
MAX_NAME, MAX_TAG = 128, 64  # characters, by W&B's rules


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning with a digest if too long."""
    if len(text) <= limit:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{text[: limit - len(digest) - 1]}-{digest}"


@dataclass(slots=True)
class WandbRun(TrackerRun):
    """A TrackerRun on a wandb run; its first error is logged."""

    run: Any
    is_broken: bool = False

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Log values at a step, committed at once."""
        with self._harmless():
            self.run.log(dict(values), step=step, commit=True)

    def summary(self, values: Mapping[str, Any]) -> None:
        """Final values, shown in the runs table; nested ones as a.b."""
        with self._harmless():
            self.run.summary.update(dict(values))

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """A wandb.Table, logged at a step of its own."""
        with self._harmless():
            table = importlib.import_module("wandb").Table(list(columns), [list(row) for row in rows])
            self.run.log({name: table})

    def artifact(self, name: str, kind: str, files: Sequence[Path]) -> None:
        """A wandb.Artifact of these files."""
        with self._harmless():
            artifact = importlib.import_module("wandb").Artifact(shortened(name, MAX_NAME), type=kind)
            for file in files:
                artifact.add_file(str(file))
            self.run.log_artifact(artifact)

    def finish(self, exit_code: int) -> None:
        """Ends the run, as failed unless the code is 0."""
        with self._harmless():
            self.run.finish(exit_code=exit_code)

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        """Logs an error once instead of failing the cell: its results are stored elsewhere."""
        try:
            yield
        except Exception as error:
            if not self.is_broken:
                log.warning("W&B failed (%s): what it shows of this cell is not complete", error)
            self.is_broken = True


def run_id(cell_folder: Path) -> str:
    """The cell's run id: random, made once and kept in its folder.

    One made from the configuration would merge runs that were repeated.
    """
    path = cell_folder / ID_FILE
    try:
        with path.open("x") as file:
            file.write(secrets.token_hex(4))
    except FileExistsError:
        pass
    return path.read_text().strip()


@cache
def say_how_to_sync(run_folder: Path) -> None:
    """Logs the command that uploads a run's offline cells, once per process."""
    log.info("W&B is offline; upload this run with: wandb sync %s/*/wandb/offline-run-*", run_folder)
