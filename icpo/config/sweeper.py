"""The sweeper: plans a run's cells, checks their folders, launches them."""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, cast

from hydra._internal.core_plugins import basic_sweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.errors import ConfigCompositionException
from hydra.experimental.callback import Callback
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

from icpo.config.arms import PlannedCell, plan_cells
from icpo.config.composing import CellComposer
from icpo.config.messages import one_line
from icpo.errors import ConfigError


class SweepTask(Protocol):
    """A task of a sweep, which sees all cells before the first."""

    def counting(self, doing: str, num_cells: int) -> AbstractContextManager[Callable[[], None]]:
        """Within, each call says that one more cell is done."""

    def plan(self, cells: Iterable[DictConfig], *, num_cells: int, is_here: bool) -> bool:
        """Check all cells and return whether to launch them."""

    def __call__(self, config: DictConfig) -> None:
        """Run one cell."""


class ArmSweeper(Sweeper):
    """Runs a preset's arms times axes, composing each cell once."""

    __module__ = basic_sweeper.__name__  # Hydra takes a sweeper from its own modules or from hydra_plugins

    def __init__(self, max_batch_size: int | None, params: Mapping[str, str] | None = None) -> None:
        self.max_batch_size, self.axes = max_batch_size, dict(params or {})

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Prepare the launcher with the cells that this sweeper composed."""
        self._master, self._task = config, cast(SweepTask, task_function)
        self._composer = CellComposer(hydra_context.config_loader, config)
        self._composed: dict[tuple[str, ...], bytes] = {}
        self._is_here = "BasicLauncher" in str(config.hydra.launcher["_target_"])
        if self._is_here:
            loader = cast(ConfigLoader, _Composed(hydra_context.config_loader, self._composed))
            hydra_context.callbacks.callbacks.insert(0, _Forget())  # at a job's end the first is called last
            hydra_context = HydraContext(loader, hydra_context.callbacks)
        self._launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Launch all cells. Raises ConfigError where two have one folder."""
        jobs = self._compose(arguments)
        configs = map(pickle.loads, self._composed.values())
        if not self._task.plan(configs, num_cells=len(jobs), is_here=self._is_here):
            return []
        Path(self._master.hydra.sweep.dir).mkdir(parents=True, exist_ok=True)
        size = self.max_batch_size or len(jobs)
        returned = []
        for start in range(0, len(jobs), size):
            results = self._launcher.launch(jobs[start : start + size], initial_job_idx=start)
            for result in results:
                _ = result.return_value  # raises what the job raised
            returned.append(results)
        return returned

    def _compose(self, arguments: Sequence[str]) -> list[list[str]]:
        """Compose all cells; their overrides."""
        arms = OmegaConf.to_container(self._master.get("arms") or OmegaConf.create({}), resolve=False)
        planned = plan_cells(
            arms,  # type: ignore[arg-type]
            self.axes,
            arguments,
            self._preset_choices(arguments),
            self._composer.parser,
        )
        jobs, folders = [], []
        failed: list[tuple[PlannedCell, ConfigCompositionException]] = []
        with self._task.counting("composing", len(planned)) as count:
            for cell in planned:
                count()
                overrides = list(cell.overrides)
                try:
                    config = self._composer.compose(overrides)
                except ConfigCompositionException as error:
                    failed.append((cell, error))
                    continue
                if cell.suffix:
                    config.cell = f"{config.cell}{cell.suffix}"
                    overrides.append(f"cell='{config.cell}'")
                jobs.append(overrides)
                folders.append(folder_of(config))
                self._composed[tuple(overrides)] = pickle.dumps(config)
        if failed:
            raise _unknown_settings(failed, jobs)
        _refuse_equal(folders, jobs)
        return jobs

    def _preset_choices(self, arguments: Sequence[str]) -> dict[str, str]:
        """What the preset chooses in each group, whatever the command line says."""
        choices = self._master.hydra.runtime.choices
        if any(one.partition("=")[0] in choices for one in arguments):
            preset = [one for one in arguments if one.lstrip("+").startswith("exp=")]
            choices = self._composer.compose(preset).hydra.runtime.choices
        return dict(choices)


class _Composed:
    """Hydra's loader of configurations, which knows the cells that are composed already."""

    def __init__(self, loader: ConfigLoader, cells: Mapping[tuple[str, ...], bytes]) -> None:
        self.loader, self.cells = loader, cells

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def load_sweep_config(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """The configuration of a cell."""
        return cast(DictConfig, pickle.loads(self.cells[tuple(sweep_overrides)]))


class _Forget(Callback):
    """Frees a cell's configuration when it ends: Hydra's launcher keeps what each job returned."""

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:
        """Leaves its value and status."""
        job_return.cfg = job_return.hydra_cfg = None


def folder_of(config: DictConfig) -> Path:
    """The folder of a cell."""
    return Path(str(config.output_root)) / str(config.run_name) / str(config.cell)


def _unknown_settings(
    failed: Sequence[tuple[PlannedCell, ConfigCompositionException]], others: Sequence[Sequence[str]]
) -> ConfigError:
    """The error for settings that some cells cannot have; it names the arms that can."""
    cell, error = failed[0]
    lacking, having = _arm(cell.overrides), list(dict.fromkeys(map(_arm, others)))
    if lacking in having or not having:
        return ConfigError(one_line(error))
    return ConfigError(
        f"Arm {lacking}: {one_line(error)} To run the arms that have it, pass arm={','.join(having)}."
    )


def _arm(overrides: Sequence[str]) -> str:
    return next(one.removeprefix("arm=") for one in overrides if one.startswith("arm="))


def _refuse_equal(folders: Sequence[Path], overrides: Sequence[Sequence[str]]) -> None:
    """Raises ConfigError where two cells of a sweep would have one folder."""
    seen: dict[Path, Sequence[str]] = {}
    for folder, made_by in zip(folders, overrides, strict=True):
        if folder in seen:
            differing = [one.partition("=")[0] for one in made_by if one not in seen[folder]]
            apart = f"differ in {', '.join(differing)} alone" if differing else "are the same"
            raise ConfigError(
                f"Two cells of this sweep would be called {folder.name!r}: they {apart}. Put what is swept "
                "into the name of its choice, as `name: mine-${.weight}`, or give each value a run_name."
            )
        seen[folder] = made_by


basic_sweeper.ArmSweeper = ArmSweeper  # type: ignore[attr-defined]
Plugins.instance().register(ArmSweeper)
