import sys
from pathlib import Path

import pytest

from icpo.theory.teacher import TeacherRecipe
from tests.theory.build import draws

FOLDER = Path(__file__).parents[2] / "experiments" / "policy_matching"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "benchmark", raising=False)
    import benchmark

    return benchmark


@pytest.mark.parametrize("metric", ["identity", "random_spd"])
def test_batched_pipeline_and_plain_loop_agree(benchmark, metric):
    teacher = TeacherRecipe(metric, 0.5, 4.0).build(4, 1.0, 0.2, "cpu")
    training, test = draws(num_tasks=60), draws(num_tasks=5, seed=3)
    slow, fast = benchmark.looped(teacher, training, test), benchmark.batched(teacher, training, test)
    assert slow.distance(fast) < benchmark.AGREEMENT
    assert abs(slow.operator_KZ).max() > 0.1
