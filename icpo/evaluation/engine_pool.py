"""One engine at a time, kept loaded while cells of one backbone follow one another."""

import atexit
from collections.abc import Mapping
from typing import Any, Protocol

from icpo.backbones import Backbone
from icpo.types import Engine

RUNNING_TOTALS = ("seconds", "tokens", "requests", "sequences", "preemptions", "steps", "dollars")


class EngineSettings(Protocol):
    """What conf/engine/NAME.yaml builds."""

    @property
    def name(self) -> str:
        """What conf/engine calls it."""

    def preflight(self) -> None:
        """Raises EngineError at once where the engine cannot start on this machine."""

    def start(self, backbone: Backbone, *, max_context_tokens: int) -> Engine:
        """Loads the model. Raises EngineError."""


class EnginePool:
    """Holds the engine last asked for and closes it before another is started."""

    def __init__(self) -> None:
        self._held: tuple[object, Engine] | None = None

    def get(self, settings: EngineSettings, backbone: Backbone, max_context_tokens: int) -> Engine:
        """The engine of these settings: the one held if it is the same, else a new one."""
        wanted = (settings, backbone, max_context_tokens)
        if self._held is not None and self._held[0] == wanted:
            return self._held[1]
        self.close()
        self._held = (wanted, settings.start(backbone, max_context_tokens=max_context_tokens))
        return self._held[1]

    def accounting(self) -> dict[str, Any]:
        """What the engine held says of its work so far; nothing where none is held or it keeps no account."""
        if self._held is None or not hasattr(self._held[1], "accounting"):
            return {}
        return dict(self._held[1].accounting())

    def close(self) -> None:
        """Closes the engine held, if there is one."""
        if self._held is not None:
            _, engine = self._held
            self._held = None
            engine.close()


def spent_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """An account of one cell from two of an engine's whole life: counts and seconds as differences."""
    return {
        name: value - before.get(name, 0) if _is_running_total(name, value) else value
        for name, value in after.items()
    }


def _is_running_total(name: str, value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and name.endswith(RUNNING_TOTALS) and not name.startswith("cache_")


POOL = EnginePool()
atexit.register(POOL.close)
