import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from icpo.grading import Grader, GradingRules


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    with Grader(GradingRules.paper()) as one:
        yield one


@pytest.fixture(scope="session")
def benchmarks() -> Path:
    folder = Path(os.environ.get("ICPO_BENCHMARKS", Path(__file__).parents[2] / "../shared/benchmarks"))
    if not folder.is_dir():
        pytest.skip(f"no benchmark files at {folder}; set ICPO_BENCHMARKS to their folder")
    return folder
