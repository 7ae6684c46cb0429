"""Which runs this process started and which cells they are to have; noted as Hydra begins them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from icpo.config.messages import HYDRA_ERRORS
from icpo.errors import ConfigError, RecordsError
from icpo.store import note_planned


@dataclass(frozen=True, slots=True)
class SeenRun:
    """A run that this process works on; `tracking` are the settings of its tracker."""

    outputs: Path
    run_name: str
    tracking: Mapping[str, Any]


SEEN_RUNS: list[SeenRun] = []
SENT_AWAY: list[Path] = []  # the cells that a launcher was given


class RememberRun(Callback):
    """Notes runs, so that their reports are made even when a cell failed, and plans, for `icpo.status`.

    A dry run draws nothing, so there is nothing to note. What cannot be composed or written is left to
    Hydra, which meets the same next and tells.
    """

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A single cell."""
        with suppress(*HYDRA_ERRORS):
            if not config.get("dry_run"):
                _note(config, config.tracking)

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """A sweep, also one whose cells run elsewhere."""
        with suppress(*HYDRA_ERRORS):
            cells = _cells(config.hydra)
            try:
                _check_folders(cells)
            except ConfigError as error:  # Hydra makes a warning of any Exception of a callback
                raise SystemExit(f"icpo: {error}") from None
            if config.get("dry_run"):
                return
            for cell, _ in cells:
                _note(cell, config.tracking)
            if not _runs_here(config.hydra):
                SENT_AWAY.extend(_folder(cell) for cell, _ in cells)


def _note(cell: DictConfig, tracking: DictConfig) -> None:
    settings = OmegaConf.to_container(tracking, resolve=True)
    run = SeenRun(Path(str(cell.output_root)), str(cell.run_name), settings)  # type: ignore[arg-type]
    if run not in SEEN_RUNS:
        SEEN_RUNS.append(run)
    with suppress(RecordsError):
        note_planned(run.outputs / run.run_name, [str(cell.cell)])


def _folder(cell: DictConfig) -> Path:
    return Path(str(cell.output_root)) / str(cell.run_name) / str(cell.cell)


def runs_here() -> bool:
    """Whether cells run in this process, rather than being sent elsewhere by a launcher."""
    return _runs_here(HydraConfig.get())


def _runs_here(settings: Any) -> bool:
    return "BasicLauncher" in str(settings.launcher["_target_"])


def _cells(settings: Any) -> list[tuple[DictConfig, tuple[str, ...]]]:
    """Each cell of a sweep and what makes it, in its order: axes and overrides, composed as Hydra will."""
    axes = [f"{key}={value}" for key, value in (settings.sweeper.params or {}).items()]
    overrides = OverridesParser.create().parse_overrides([*axes, *settings.overrides.task])
    [cells] = BasicSweeper.split_arguments(overrides, None)
    return [(compose("config", overrides=cell), tuple(cell)) for cell in cells]


def _check_folders(cells: Sequence[tuple[DictConfig, tuple[str, ...]]]) -> None:
    """Raises ConfigError where two cells of a sweep would have one folder."""
    seen: dict[Path, tuple[str, ...]] = {}
    for cell, overrides in cells:
        folder = _folder(cell)
        if folder in seen:
            differing = [one.partition("=")[0] for one in overrides if one not in seen[folder]]
            apart = f"differ in {', '.join(differing)} alone" if differing else "are the same"
            raise ConfigError(
                f"Two cells of this sweep would be called {folder.name!r}: they {apart}. Put what is swept "
                "into the name or the label of its choice, as `name: mine-${.weight}`, or give each value a "
                "run_name."
            )
        seen[folder] = overrides
