"""Several processes on one run: its plan and its report are of all of them."""

import csv
import os
import subprocess
import sys
import time

import pytest

from icpo.cli.status import run_status
from icpo.store import planned_cells
from tests.end_to_end.kill_harness import ROOT, TINY

pytestmark = pytest.mark.slow

FEW = "benchmark.limit=3"


def start(outputs, *overrides, env=None):
    command = [sys.executable, "-m", "icpo.run", *TINY, "engine=scripted", "method=direct", *overrides]
    return subprocess.Popen(
        [*command, "run_name=run", f"output_root={outputs}"],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_on_one_run_do_not_overwrite_what_is_the_runs(tmp_path):
    levels = ("arith_l1", "arith_l2", "arith_l3")
    processes = [start(tmp_path, f"benchmark={level}") for level in levels]
    for process in processes:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    assert [row["state"] for row in run_status(tmp_path, "run")] == ["done"] * 3
    assert len(planned_cells(tmp_path / "run")) == 3
    with (tmp_path / "run/report/table.csv").open() as file:
        assert {row["benchmark"] for row in csv.DictReader(file)} == set(levels)
    assert not list((tmp_path / "run/report").glob(".*")) and not (tmp_path / "run/report/lock").exists()


def test_of_two_that_extend_one_cell_the_second_fails_unless_the_first_does_its_part(tmp_path):
    """Both find one seed stored; the first adds another."""
    assert start(tmp_path, FEW, "seeds=[0]").wait(timeout=300) == 0
    slow = {"PYTHONPATH": f"{ROOT}/tests/slow_engine:{ROOT}", "ICPO_TEST_SECONDS_PER_BATCH": "9"}
    first = start(tmp_path, FEW, "seeds=[0,1]", env=slow)
    lock = next(tmp_path.glob("run/*/manifest.json")).with_name("lock")
    while not lock.exists():
        assert first.poll() is None
        time.sleep(0.1)
    others = {seeds: start(tmp_path, FEW, f"seeds={seeds}") for seeds in ("[0,2]", "[0,1]", "[1]")}
    for seeds, other in others.items():
        _, said = other.communicate(timeout=300)
        assert "is being written by process" in said
        assert ("neither this command nor the process" in said and "seeds [2] missing" in said) == (
            seeds == "[0,2]"
        )
        assert other.returncode == (seeds == "[0,2]"), said
    assert first.wait(timeout=300) == 0
