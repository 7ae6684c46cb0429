"""One engine at a time, kept loaded between cells."""

import atexit
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from icpo.backbones import Backbone
from icpo.engines.sources import locate
from icpo.errors import OtherResults
from icpo.store import CellRecords
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
    """Holds the last engine and closes it before another starts."""

    def __init__(self) -> None:
        self._held: tuple[object, Engine] | None = None

    def get(self, settings: EngineSettings, backbone: Backbone, max_context_tokens: int) -> Engine:
        """The engine of these settings, the one held if it fits."""
        wanted = (settings, backbone, max_context_tokens)
        if self._held is not None and self._held[0] == wanted:
            return self._held[1]
        self.close()
        self._held = (wanted, settings.start(backbone, max_context_tokens=max_context_tokens))
        return self._held[1]

    @contextmanager
    def lent(
        self, settings: EngineSettings, backbone: Backbone, max_context_tokens: int
    ) -> Iterator[tuple[Engine, Callable[[], dict[str, Any]]]]:
        """The engine for one cell, and what gives its account of that cell; closed after an error."""
        try:
            engine = self.get(settings, backbone, max_context_tokens)
            before = accounting(engine)
            yield engine, lambda: spent_between(before, accounting(engine))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the engine held, if there is one."""
        if self._held is not None:
            _, engine = self._held
            self._held = None
            engine.close()


def accounting(engine: Engine) -> dict[str, Any]:
    """An engine's account of its work; empty where it keeps none."""
    return dict(engine.accounting()) if hasattr(engine, "accounting") else {}


def spent_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """A cell's account: the difference of two of its engine."""
    return {
        name: value - before.get(name, 0) if _is_running_total(name, value) else value
        for name, value in after.items()
    }


def _is_running_total(name: str, value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and name.endswith(RUNNING_TOTALS) and not name.startswith("cache_")


POOL = EnginePool()
atexit.register(POOL.close)


FACT = "weights"


def require_weights(records: CellRecords, engine: EngineSettings, backbone: Backbone) -> None:
    """Note the digest of a local model in the manifest.

    Raises OtherResults where it was another one. Cells of earlier versions name it in their engine's identity
    alone.
    """
    if not (getattr(engine, "loads_weights", False) and backbone.is_local):
        return
    revision = locate(backbone).revision
    identity = str(records.manifest.get("resolved", {}).get("engine_identity", revision))
    if "sha256:" in identity and revision not in identity:
        raise OtherResults(
            f"{records.folder} holds results of other weights than {backbone.location} has now "
            f"({identity}). Bring back what it was, or choose another run_name."
        )
    records.resolve({FACT: revision})
