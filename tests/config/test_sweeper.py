"""The sweeper on the command line: names and folders are checked before anything is written."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hydra import initialize_config_dir
from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import HydraContext, RunMode
from omegaconf import OmegaConf

from icpo.config import ArmSweeper, check_config, config_source, resolved, stored
from tests.composing import composed

PLAN = ["+exp=quickstart", "tracking=none", "dry_run=true", "benchmark=arith_l1"]


def run(outputs, *overrides):
    command = [sys.executable, "-m", "icpo.run", *PLAN, f"output_root={outputs}", *overrides]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("overrides", "cells"),
    [
        (["arm=base"], {"nano-arith_l1-base"}),
        (["method=mctsr", "protocol=paper"], {"nano-arith_l1-mctsr-paper"}),
        (
            ["arm=me_icpo", "budget.num_rounds=1,2"],
            {"nano-arith_l1-me_icpo-num_rounds_1", "nano-arith_l1-me_icpo-num_rounds_2"},
        ),
        (
            ["arm=me_icpo", "benchmark.limit=1,2", "benchmark.name='l1-${benchmark.limit}'"],
            {"nano-l1-1-me_icpo-limit_1", "nano-l1-2-me_icpo-limit_2"},
        ),
    ],
)
def test_cells_are_named_after_what_differs(tmp_path, overrides, cells):
    done = run(tmp_path, *overrides)
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"^(nano\S+): at most", done.stdout, re.M)) == cells


@pytest.mark.slow
def test_two_cells_of_one_name_are_refused_before_anything_is_written(tmp_path):
    done = run(tmp_path, "benchmark=arith_l1,arith_l1", "dry_run=false")
    assert done.returncode == 2 and "Two cells" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


class Recording:
    """A task that notes what it is given, and runs nothing."""

    def __init__(self):
        self.counted, self.planned, self.ran = [], [], []

    @contextmanager
    def counting(self, doing, num_cells):
        self.counted.append((doing, num_cells, 0))
        yield lambda: self.counted.append((doing, num_cells, self.counted[-1][2] + 1))

    def plan(self, cells, *, num_cells, is_here):
        assert isinstance(cells, Iterator)  # so that their configurations need not be in memory together
        self.planned = [str(config.cell) for config in cells]
        assert is_here and num_cells == len(self.planned)
        return True

    def __call__(self, config):
        self.ran.append((config.cell, config.benchmark.limit, HydraConfig.get().job.num))
        return config.cell


class Noting(Callback):
    """A user's callback, which notes the configuration of each cell that ended."""

    def __init__(self):
        self.limits = []

    def on_job_end(self, config, job_return, **more):
        self.limits.append(job_return.cfg.benchmark.limit)


def swept(task, outputs, *overrides, callback=None):
    """What a sweep with that task returns."""
    quiet = ["hydra/job_logging=none", "hydra/hydra_logging=none"]
    arguments = ["+exp=quickstart", f"output_root={outputs}", *overrides, *quiet]
    with initialize_config_dir(config_source(), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        master = loader.load_configuration("config", arguments, RunMode.MULTIRUN)
        sweeper = ArmSweeper(None, OmegaConf.to_container(master.hydra.sweeper.params))
        context = HydraContext(loader, Callbacks(OmegaConf.create({})))
        context.callbacks.callbacks += [callback] if callback else []
        sweeper.setup(hydra_context=context, task_function=task, config=master)
        [results] = sweeper.sweep(list(master.hydra.overrides.task))
    return results


def test_a_sweep_counts_plans_and_runs_each_cell_once(tmp_path):
    task = Recording()
    results = swept(task, tmp_path, "arm=base,me_icpo", "benchmark=arith_l1", "benchmark.limit=1,2")
    assert task.counted == [("composing", 4, done) for done in range(5)]
    cells = [f"nano-arith_l1-{arm}-limit_{limit}" for limit in (1, 2) for arm in ("base", "me_icpo")]
    assert task.planned == cells == [result.return_value for result in results]
    assert task.ran == [(cell, int(cell[-1]), i) for i, cell in enumerate(cells)]
    written = OmegaConf.load(tmp_path / "quickstart" / cells[3] / ".hydra/config.yaml")
    assert (written.cell, written.benchmark.limit) == (cells[3], 2)


def test_a_sweep_keeps_no_configuration_of_cells_that_ran(tmp_path):
    arguments = ["arm=base", "benchmark=arith_l1", "benchmark.limit=1,2"]
    results = swept(Recording(), tmp_path, *arguments, callback=(noting := Noting()))
    assert noting.limits == [1, 2]
    assert [(result.cfg, result.hydra_cfg) for result in results] == [(None, None)] * 2


def test_a_checked_configuration_is_what_a_cell_stores():
    config = composed("+exp=quickstart", "benchmark=arith_l1")
    values = check_config(config)
    assert values["job"]["benchmark"] == values["benchmark"] and "arms" in values
    assert stored(values) == resolved(config) == {k: v for k, v in values.items() if k != "arms"}
