"""The report of a run as a W&B artifact."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from icpo.errors import ConfigError
from icpo.tracking.tracker import NoTracker, Tracker
from icpo.tracking.wandb_tracker import WandbTracker

TRACKERS: Mapping[str, Callable[..., Tracker]] = {
    "icpo.tracking.NoTracker": NoTracker,
    "icpo.tracking.WandbTracker": WandbTracker,
}


def log_report(run_folder: Path, files: Sequence[Path], tracker: Tracker) -> None:
    """Upload the report's files as an artifact of their own run.

    The run's id is in the report's folder, so that a report made again is a new version of the same
    artifact.
    """
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", f"report-{run_folder.name}")
    folder = run_folder / "report"
    with tracker.start(
        folder, run_name=run_folder.name, cell_name="report", job_type="report", config={}
    ) as run:
        run.artifact(name, "report", files)


def tracker_of(settings: Mapping[str, Any]) -> Tracker:
    """The tracker that a stored configuration names.

    Raises:
        ConfigError: it is none of this package's, or its settings are of another version.
    """
    kind = TRACKERS.get(str(settings.get("_target_")))
    if kind is None:
        raise ConfigError(f"The stored tracking settings {dict(settings)} name no tracker of this package.")
    try:
        return kind(**{key: value for key, value in settings.items() if key != "_target_"})
    except (TypeError, ValueError) as error:
        raise ConfigError(f"The stored tracking settings do not fit this version: {error}.") from error
