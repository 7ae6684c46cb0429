"""Weights & Biases: one run per cell, offline unless a key or a login is there."""

import hashlib
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
from typing import Annotated, Any

from pydantic import Field

from icpo.errors import ConfigError
from icpo.safe_text import masked
from icpo.tracking.credentials import has_credentials
from icpo.tracking.reach import give_up, is_reachable, server_url
from icpo.tracking.tracker import Silence, TrackerRun
from icpo.types.validated import validated

log = logging.getLogger(__name__)

ID_FILE = "wandb_id.txt"
INIT_SECONDS = 30.0


class WandbMode(str, Enum):
    """`auto` is WANDB_MODE if set, else online with a key or login, else offline."""

    AUTO = "auto"
    ONLINE = "online"
    OFFLINE = "offline"
    SHARED = "shared"
    DISABLED = "disabled"


OLD_NAMES = {"dryrun": "offline", "run": "online"}  # W&B's own, still in use
MAX_NAME, MAX_TAG = 128, 64  # characters, by W&B's rules
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG)]


@validated
class WandbTracker:
    """Tracks each cell as one W&B run in the group `run_name`; its files are in the cell's folder.

    Whether the server can be used is decided once a process. Nothing that goes wrong with it later fails a
    cell.
    """

    project: Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=r"^[^/\\#?%:]+$")]
    entity: str | None
    mode: WandbMode
    tags: tuple[Tag, ...]

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
        config whose key names a secret are hidden. Names and tags that W&B does not take are cut.

        Raises:
            ConfigError: mode `online` was asked for and the server cannot be reached or refuses.
        """
        arguments = {
            "dir": cell_folder,
            "id": run_id(cell_folder),
            "project": self.project,
            "entity": self.entity,
            "group": shortened(run_name, MAX_NAME),
            "name": shortened(cell_name, MAX_NAME),
            "job_type": shortened(job_type, MAX_TAG),
            "tags": list(dict.fromkeys([*self.tags, *(shortened(tag, MAX_TAG) for tag in tags if tag)])),
            "config": masked(config),
            "resume": "allow",
            "reinit": "create_new",  # cells of one process stay apart
        }
        run = self._open(arguments)
        if run is None:
            yield Silence()
            return
        tracked, exit_code = _WandbRun(run), 1
        try:
            if run.offline:
                say_how_to_sync(cell_folder.parent)
            yield tracked
            exit_code = 0
        finally:
            tracked.finish(exit_code)

    def resolved_mode(self) -> WandbMode:
        """The mode that a run started now would have. Raises ConfigError for an unknown WANDB_MODE."""
        if self.mode is not WandbMode.AUTO:
            return self.mode
        wanted = os.environ.get("WANDB_MODE")
        if not wanted:
            has_any = has_credentials(os.environ, Path(os.path.expanduser("~")))
            return WandbMode.ONLINE if has_any and is_reachable(server_url()) else WandbMode.OFFLINE
        try:
            mode = WandbMode(OLD_NAMES.get(wanted, wanted))
        except ValueError:
            raise ConfigError(
                f"WANDB_MODE={wanted!r} is no mode of W&B. Set it to online, offline, shared or disabled."
            ) from None
        return mode if mode is not WandbMode.ONLINE or is_reachable(server_url()) else WandbMode.OFFLINE

    def _open(self, arguments: Mapping[str, Any]) -> Any:
        """The run; offline where the server cannot be used, None where not even that works."""
        mode, wandb = self.resolved_mode(), importlib.import_module("wandb")
        settings = wandb.Settings(
            x_transaction_log_flush_interval=1,  # the default of 15 s is what a SIGKILL would lose
            x_disable_meta=True,  # the command line may hold a key; manifest.json says what ran
            disable_git=True,
            console="off",  # the terminal belongs to the progress bar
            silent=True,
            init_timeout=INIT_SECONDS,
        )
        if self.mode is WandbMode.ONLINE and not is_reachable(server_url()):
            raise _unusable(f"{server_url()} cannot be reached")
        try:
            return wandb.init(mode=mode.value, settings=settings, **arguments)
        except Exception as error:  # W&B raises of many kinds, its own and its libraries'
            if self.mode is WandbMode.ONLINE:
                raise _unusable(error) from error
            give_up(server_url(), error)
        fresh = {"id": f"{arguments['id']}-{secrets.token_hex(2)}"}  # the first try may have taken the name
        try:
            return wandb.init(mode="offline", settings=settings, **{**arguments, **fresh})
        except Exception as error:
            log.warning("W&B does not start offline either (%s): this cell is not tracked", error)
            return None


def _unusable(reason: object) -> ConfigError:
    return ConfigError(
        f"tracking.mode=online, but W&B cannot be used: {reason}. "
        "Run `wandb login`, or choose tracking.mode=offline or tracking=none."
    )


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and a digest of the whole where it is too long."""
    if len(text) <= limit:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{text[: limit - len(digest) - 1]}-{digest}"


@dataclass(slots=True)
class _WandbRun:
    """A TrackerRun upon a wandb run; after an error it keeps quiet."""

    run: Any
    is_broken: bool = False

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Values at a step, committed at once lest a kill lose them; W&B drops steps lower than it has."""
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
