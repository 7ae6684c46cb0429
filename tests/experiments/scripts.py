"""Loads the scripts of experiments/, which are no package."""

import importlib.util
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def load(name):
    """The module of experiments/NAME.py."""
    spec = importlib.util.spec_from_file_location(
        f"experiments_{name.replace('/', '_')}", EXPERIMENTS / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
