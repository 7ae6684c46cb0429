"""A cell's folder and how to open it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from icpo.store import CellRecords


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    return tmp_path / "run" / "cell"


@pytest.fixture
def reopen(cell: Path) -> Callable[..., CellRecords]:
    return lambda folder=cell: CellRecords(folder, config={"method": {"num_rounds": 2}}, config_digest="d1")
