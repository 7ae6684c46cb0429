"""When samples start, without vLLM: its scheduler is replaced by one that starts all that it may."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

NUM_PLACES = 8


class Greedy:
    """Fills the places that it is told of."""

    def __init__(self, burst, num_waiting):
        self.vllm_config = SimpleNamespace(additional_config={"icpo_admission_burst": burst})
        self.max_num_running_reqs = NUM_PLACES
        self.running, self.num_waiting = [], num_waiting

    def schedule(self):
        started = min(self.max_num_running_reqs - len(self.running), self.num_waiting)
        self.running += ["sample"] * started
        self.num_waiting -= started
        return started


@pytest.fixture
def scheduler(monkeypatch):
    name = "vllm.v1.core.sched.async_scheduler"
    for place in range(1, name.count(".") + 2):
        module = ".".join(name.split(".")[:place])
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    sys.modules[name].AsyncScheduler = Greedy
    monkeypatch.delitem(sys.modules, "icpo.engines.vllm.scheduler", raising=False)
    from icpo.engines.vllm.scheduler import BurstScheduler

    yield BurstScheduler
    sys.modules.pop("icpo.engines.vllm.scheduler")


def starts(made, num_ended):
    """How many samples each step starts when so many end before it."""
    started = []
    for ended in num_ended:
        del made.running[:ended]
        started.append(made.schedule())
        assert made.max_num_running_reqs == NUM_PLACES
    return started


@pytest.mark.parametrize(
    ("burst", "wanted"),
    [
        (1, [8, 1, 1, 2, 1]),  # as vLLM does
        (3, [8, 0, 0, 4, 0]),
        (99, [8, 0, 0, 0, 0]),  # more than there are places: only when none runs
    ],
)
def test_samples_start_when_enough_places_are_free(scheduler, burst, wanted):
    assert starts(scheduler(burst, num_waiting=50), [0, 1, 1, 2, 1]) == wanted


def test_nothing_waits_for_a_burst_where_nothing_runs(scheduler):
    assert starts(scheduler(3, num_waiting=2), [0]) == [2]
    assert starts(scheduler(99, num_waiting=20), [0, 8]) == [8, 8]
