"""Several processes on one run: its plan and its report are of all of them."""

import csv
import subprocess
import sys

import pytest

from icpo.cli.status import run_status
from icpo.store import planned_cells
from tests.end_to_end.kill_harness import ROOT, TINY

pytestmark = pytest.mark.slow


def start(outputs, *overrides):
    command = [sys.executable, "-m", "icpo.run", *TINY, "engine=scripted", "method=direct", *overrides]
    return subprocess.Popen(
        [*command, "run_name=run", f"output_root={outputs}"], cwd=ROOT, stderr=subprocess.PIPE, text=True
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
