from collections.abc import Iterator

import pytest

from icpo.grading import Grader, GradingRules


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    with Grader(GradingRules()) as one:
        yield one
