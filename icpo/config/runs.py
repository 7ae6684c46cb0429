"""Which runs this process works on, so that their reports are made even when a cell failed."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from icpo.errors import RecordsError
from icpo.store import note_planned


@dataclass(frozen=True, slots=True)
class SeenRun:
    """A run that this process works on; `tracking` are the settings of its tracker."""

    outputs: Path
    run_name: str
    tracking: Mapping[str, Any]


SEEN_RUNS: list[SeenRun] = []
SENT_AWAY: list[Path] = []  # the cells that a launcher was given


def note_run(config: DictConfig) -> None:
    """Notes the run of a cell, and in its folder that the cell is planned."""
    settings = OmegaConf.to_container(config.tracking, resolve=True)
    run = SeenRun(Path(str(config.output_root)), str(config.run_name), settings)  # type: ignore[arg-type]
    if run not in SEEN_RUNS:
        SEEN_RUNS.append(run)
    with suppress(RecordsError):
        note_planned(run.outputs / run.run_name, [str(config.cell)])


def is_single() -> bool:
    """Whether this process runs one cell that no sweeper planned."""
    return HydraConfig.initialized() and bool(HydraConfig.get().mode == RunMode.RUN)


def runs_here(settings: Any = None) -> bool:
    """Whether cells run in this process, rather than being sent elsewhere by a launcher."""
    return "BasicLauncher" in str((settings or HydraConfig.get()).launcher["_target_"])
