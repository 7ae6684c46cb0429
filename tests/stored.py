"""Stored cells as tests compare them."""

from pathlib import Path
from typing import Any

from icpo.store import load_results
from icpo.store.codec import encode_result


def read_results(cell: Path) -> list[dict[str, Any]]:
    """The results of a cell as lines of JSON."""
    return [encode_result(result) for result in load_results(cell)]
