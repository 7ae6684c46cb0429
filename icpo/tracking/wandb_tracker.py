"""Weights & Biases: one run per cell, offline without a key."""

import importlib
import logging
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from icpo.errors import ConfigError
from icpo.safe_text import masked
from icpo.tracking.reach import give_up, has_credentials, is_reachable, server_url
from icpo.tracking.tracker import Tracker, TrackerRun
from icpo.tracking.wandb_run import MAX_NAME, MAX_TAG, WandbRun, run_id, say_how_to_sync, shortened
from icpo.types.validated import validated

log = logging.getLogger(__name__)

INIT_SECONDS = 30.0


class WandbMode(str, Enum):
    """How W&B is used; `auto` is WANDB_MODE, else by login."""

    AUTO = "auto"
    ONLINE = "online"
    OFFLINE = "offline"
    SHARED = "shared"
    DISABLED = "disabled"


OLD_NAMES = {"dryrun": "offline", "run": "online"}  # W&B's own, still in use
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG)]


@validated
class WandbTracker(Tracker):
    """Tracks each cell as one W&B run, grouped by `run_name`.

    Its files are in the cell's folder. Whether the server can be used is decided once a process. Nothing that
    goes wrong with it later fails a cell.
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
    ) -> Iterator[TrackerRun]:
        """The W&B run of a cell.

        A cell that is resumed adds a fragment with the same id, kept in the cell's folder. Values of the
        config whose key names a secret are hidden. Names that W&B does not take are cut.

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
            "tags": list(dict.fromkeys(self.tags)),
            "config": masked(config),
            "resume": "allow",
            "reinit": "create_new",  # cells of one process stay apart
        }
        run = self._open(arguments)
        if run is None:
            yield TrackerRun()
            return
        tracked, exit_code = WandbRun(run), 1
        try:
            if run.offline:
                say_how_to_sync(cell_folder.parent)
            yield tracked
            exit_code = 0
        finally:
            tracked.finish(exit_code)

    def resolved_mode(self) -> WandbMode:
        """The mode of a new run. Raises ConfigError if unknown."""
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
