"""Arms of a preset, for tests that compose one cell by themselves."""

from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from icpo.config import config_source
from icpo.config.arms import arms_of, plan_cells
from tests.composing import composed_with_hydra


def arms_in(preset, conf=None):
    """The key `arms` of a preset's file."""
    file = Path(conf or config_source()) / f"exp/{preset}.yaml"
    return OmegaConf.to_container(OmegaConf.create(OmegaConf.load(file).get("arms") or {}), resolve=False)


def of_arm(preset, name, conf=None):
    """The overrides that make an arm of a preset."""
    return arms_of(arms_in(preset, conf))[name].all_overrides


def planned(preset, *arguments):
    """The cells of a preset with a command line's arguments."""
    config = composed_with_hydra(f"+exp={preset}")
    return plan_cells(
        arms_in(preset),
        dict(config.hydra.sweeper.params or {}),
        [f"+exp={preset}", *arguments],
        dict(config.hydra.runtime.choices),
        OverridesParser.create(),
    )
