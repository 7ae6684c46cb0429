"""Stored cells as tests compare them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from icpo.store import Texts, load_results
from icpo.store.codec import encode_result


def read_results(cell: Path) -> list[dict[str, Any]]:
    """The results of a cell as lines of JSON."""
    return [encode_result(result) for result in load_results(cell)]


def read_texts(cell: Path, samples: Iterable[str]) -> dict[str, str]:
    """The texts of some completions of a cell."""
    with Texts(cell) as texts:
        return texts.of(samples)
