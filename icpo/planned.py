"""Which cells a run was asked for, begun or not: Hydra's own record of a sweep, expanded again."""

from pathlib import Path

from hydra import compose, initialize_config_dir, initialize_config_module
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from icpo.configuration import config_source
from icpo.errors import RecordsError


def planned_cells(run: Path) -> list[Path]:
    """The folders of the cells of the run's last sweep, in its order; none if the run was not a sweep.

    Raises:
        RecordsError: the sweep cannot be expanded with the configuration files as they are now.
    """
    sweep = run / "multirun.yaml"
    if not sweep.exists():
        return []
    try:
        settings = OmegaConf.load(sweep).hydra
        axes = [f"{key}={value}" for key, value in (settings.sweeper.params or {}).items()]
        overrides = OverridesParser.create().parse_overrides([*axes, *settings.overrides.task])
        [cells] = BasicSweeper.split_arguments(overrides, None)
        source = config_source()
        with (
            initialize_config_module(source.removeprefix("pkg://"), version_base="1.3")
            if source.startswith("pkg://")
            else initialize_config_dir(source, version_base="1.3")
        ):
            return [run / str(compose("config", overrides=cell).cell) for cell in cells]
    except (HydraException, OmegaConfBaseException) as error:
        raise RecordsError(f"{sweep} cannot be expanded: {str(error).splitlines()[0]}") from error
