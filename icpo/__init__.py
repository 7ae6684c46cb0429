"""ICPO: in-context policy optimization, its theory and its test-time scaling experiments.

`Solver` answers questions, `evaluate` runs a preset, `load_run` reads a stored run. Importing this package
loads none of them: each is imported when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icpo.api import Answer, Run, Solver, evaluate, load_run

__all__ = ["Answer", "Run", "Solver", "evaluate", "load_run"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("icpo.api"), name)
    raise AttributeError(f"module 'icpo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
