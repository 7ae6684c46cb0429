"""Settings of cells by dotted key."""

from collections.abc import Iterator, Mapping
from typing import Any


def flat(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a nested configuration by dotted key; lists are leaves."""
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from flat(value, f"{prefix}.{key}" if prefix else str(key))
    elif not prefix.endswith("_target_"):
        yield prefix, config
