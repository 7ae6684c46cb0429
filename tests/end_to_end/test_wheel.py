"""The wheel, installed elsewhere, finds its configuration and its weights."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_wheel_runs_the_quickstart_elsewhere(tmp_path):
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", tmp_path / "dist", ROOT], check=True)
    [wheel] = (tmp_path / "dist").glob("icpo-*.whl")
    assert wheel.stat().st_size < 20e6
    site = tmp_path / "site"
    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", site, wheel], check=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    settings = [
        "+exp=quickstart",
        "benchmark=arith_l1",
        "benchmark.limit=1",
        "method=direct",
        "tracking=none",
    ]
    program = "\n".join(
        [
            f"import runpy, sys; sys.path.insert(0, {str(site)!r})",
            f"import icpo; assert icpo.__file__.startswith({str(site)!r})",
            f"sys.argv[1:] = {settings!r}",
            "runpy.run_module('icpo.run', run_name='__main__')",
        ]
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=elsewhere, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (elsewhere / "outputs/quickstart/report/table.csv").is_file()
