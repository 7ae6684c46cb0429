"""Weights & Biases: one run per cell, offline unless a key or a login is there."""

import importlib
import logging
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from icpo.errors import ConfigError
from icpo.tracking.credentials import has_credentials, without_secrets
from icpo.tracking.tracker import TrackerRun

log = logging.getLogger(__name__)

ID_FILE = "wandb_id.txt"


class WandbMode(str, Enum):
    """`auto` is WANDB_MODE if set, else online with a key or login, else offline."""

    AUTO = "auto"
    ONLINE = "online"
    OFFLINE = "offline"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class WandbTracker:
    """Tracks each cell as one W&B run in the group `run_name`; its files lie in the cell's folder."""

    project: str
    entity: str | None
    mode: WandbMode
    tags: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "mode", WandbMode(self.mode))
        object.__setattr__(self, "tags", tuple(self.tags))

    @contextmanager
    def start(
        self,
        cell_folder: Path,
        *,
        run_name: str,
        cell_name: str,
        job_type: str,
        config: Mapping[str, Any],
        tags: Sequence[str] = (),
    ) -> Iterator[TrackerRun]:
        """The W&B run of a cell.

        A cell that is resumed adds a fragment with the same id, kept in the cell's folder. Values of the
        config whose key names a secret are hidden. In mode `auto` a server that cannot be reached means
        offline.

        Raises:
            ConfigError: mode `online` was asked for and the server cannot be reached or refuses.
        """
        mode = self.resolved_mode()
        arguments = {
            "dir": cell_folder,
            "id": run_id(cell_folder),
            "project": self.project,
            "entity": self.entity,
            "group": run_name,
            "name": cell_name,
            "job_type": job_type,
            "tags": [*self.tags, *tags],
            "config": without_secrets(config),
            "resume": "allow",
            "reinit": "create_new",  # cells of one process stay apart
        }
        with self._open(mode, arguments) as run:
            if run.offline:
                say_how_to_sync(cell_folder.parent)
            yield _WandbRun(run)

    def resolved_mode(self) -> WandbMode:
        """The mode that a run started now would have."""
        if self.mode is not WandbMode.AUTO:
            return self.mode
        wanted = os.environ.get("WANDB_MODE")
        if wanted:
            return WandbMode(wanted)
        return WandbMode.ONLINE if has_credentials(os.environ, Path.home()) else WandbMode.OFFLINE

    def _open(self, mode: WandbMode, arguments: Mapping[str, Any]) -> Any:
        wandb = importlib.import_module("wandb")
        settings = wandb.Settings(
            x_transaction_log_flush_interval=1,  # the default of 15 s is what a SIGKILL would lose
            x_disable_meta=True,  # the command line may hold a key; manifest.json says what ran
            disable_git=True,
            console="off",  # the terminal belongs to the progress bar
            silent=True,
        )
        try:
            return wandb.init(mode=mode.value, settings=settings, **arguments)
        except (wandb.errors.CommError, wandb.errors.UsageError) as error:
            if self.mode is WandbMode.ONLINE:
                raise ConfigError(
                    f"tracking.mode=online, but W&B cannot be used: {error}. "
                    "Run `wandb login`, or choose tracking.mode=offline or tracking=none."
                ) from error
            log.warning("W&B cannot be used (%s); this run is tracked offline", error)
            return wandb.init(mode="offline", settings=settings, **arguments)


@dataclass(frozen=True, slots=True)
class _WandbRun:
    """A TrackerRun upon a wandb run."""

    run: Any

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Values at a step, committed at once lest a kill lose them; W&B drops steps lower than it has."""
        self.run.log(dict(values), step=step, commit=True)

    def summary(self, values: Mapping[str, Any]) -> None:
        """Final values, shown in the runs table; nested ones as a.b."""
        self.run.summary.update(dict(values))

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """A wandb.Table, logged at a step of its own."""
        table = importlib.import_module("wandb").Table(list(columns), [list(row) for row in rows])
        self.run.log({name: table})

    def artifact(self, name: str, kind: str, files: Sequence[Path]) -> None:
        """A wandb.Artifact of these files."""
        artifact = importlib.import_module("wandb").Artifact(name, type=kind)
        for file in files:
            artifact.add_file(str(file))
        self.run.log_artifact(artifact)


def run_id(cell_folder: Path) -> str:
    """The cell's run id: random, drawn once and kept in its folder.

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
    """Tells the command that uploads a run's offline cells, once per process."""
    log.info("W&B is offline; upload this run with: wandb sync %s/*/wandb/offline-run-*", run_folder)
