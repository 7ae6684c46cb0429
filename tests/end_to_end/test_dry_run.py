"""A dry run says what each cell needs, and once what a run would lack."""

import subprocess
import sys


def test_missing_weights_are_told_of_once_beside_the_needs(tmp_path):
    settings = ["benchmark=arith_l1,arith_l2", "backbone.model_id=/no/such/folder", f"output_root={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-m", "icpo.run", "+exp=quickstart", "dry_run=true", *settings],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert said.count("there is no folder /no/such/folder") == 1
    assert "all 4 cells: at most" in said
