"""A folder of a user's own, beside the project: a package and YAML files."""

import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import open_dict

from icpo.config import config_source
from icpo.config.targets import source_digest

PACKAGE = "own_things"
SELECTOR = """
from __future__ import annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from nowhere import Nothing

@dataclass(frozen=True)
class Weighed:
    name: str
    weight: float

@dataclass(frozen=True)
class Unclear:
    name: str
    what: Nothing

def made(name: str, weight: float = 1.0) -> Weighed:
    return Weighed(name, weight)
"""


class Own:
    """Writes files, composes with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write(f"{PACKAGE}/__init__.py", "")
        self.write(f"{PACKAGE}/selectors.py", SELECTOR)
        self.write("conf/selector/weighed.yaml", self.node(f"{PACKAGE}.selectors.Weighed", weight=1.5))

    def node(self, target, **values):
        lines = [f"_target_: {target}", "name: weighed", *(f"{key}: {one}" for key, one in values.items())]
        return "\n".join(lines) + "\n"

    def write(self, path, text):
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def compose(self, *overrides):
        found = [f"hydra.searchpath=[file://{self.folder}/conf]", *overrides]
        with initialize_config_dir(config_dir=str(Path(config_source()).resolve()), version_base="1.3"):
            config = compose("config", overrides=["+exp=quickstart", *found])
        with open_dict(config):
            config.pop("hydra", None)
        return config

    def forget(self):
        """As a new process would begin."""
        source_digest.cache_clear()
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    own = Own(tmp_path)
    yield own
    own.forget()
