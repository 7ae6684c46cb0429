"""Rules of racing other than the default: what docs/racing.md compares."""

from icpo.lab.racing.rules import Bound, Certain, Exact, Merged

__all__ = ["Bound", "Certain", "Exact", "Merged"]
