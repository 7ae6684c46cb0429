"""The sweeper on the command line: names and folders are checked before anything is written."""

import re
import subprocess
import sys

import pytest

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
