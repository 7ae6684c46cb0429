"""Whole runs where the machine refuses: a disk that fills under all files, a user without a home."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from icpo.store import load_results, run_cells
from icpo.store.health import verify
from tests.reliability import report_row

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TINY = [
    "+exp=quickstart", "benchmark=arith_l1", "engine.block_questions=2", "budget.num_rounds=1",
    "budget.num_candidates=2", "budget.num_lookaheads=2", "budget.num_finals=2",
]  # fmt: skip
FREE_KIB = (16, 60, 84, 116, 148)  # nowhere, at the manifest, in the first cell, in the second, at the report
ANYBODY = 54321  # no such user
CAPABILITIES = "-all,+dac_read_search"  # reads what root alone may read, and writes nothing


def run(outputs, *overrides, before=(), environment=os.environ):
    command = [*before, sys.executable, "-m", "icpo.run", *TINY, f"output_root={outputs}", *overrides]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)


def results(outputs):
    return {
        cell.name: sorted(load_results(cell), key=lambda one: one.key) for cell in run_cells(outputs, "run")
    }


def test_a_disk_that_fills_ends_a_run_in_lines_and_nothing_is_lost(tmp_path):
    """Its log, Hydra's files, the records and the report are all on the disk that is full."""
    sweep = ["run_name=run", "benchmark.limit=12", "tracking=none", "method=me_icpo,direct"]
    assert run(tmp_path / "alone", *sweep).returncode == 0
    disk = tmp_path / "disk"
    disk.mkdir()
    kept = 0
    for free in FREE_KIB:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={free}k", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("may not mount a file system here")
        try:
            done = run(disk, *sweep)
            assert done.returncode in (1, 2), done.stderr
            said = done.stdout + done.stderr
            assert "Traceback" not in said and "No space left on device" in said
            before = results(disk)
            assert all(verify(cell).is_sound for cell in run_cells(disk, "run")), free
            subprocess.run(["mount", "-o", "remount,size=9m", str(disk)], check=True)
            assert run(disk, *sweep).returncode == 0
            after = results(disk)
            assert after == results(tmp_path / "alone")
            assert all(one in after[cell] for cell, stored in before.items() for one in stored)
            kept += sum(map(len, before.values()))
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    report_row(
        "the disk fills under records, run.log, Hydra's files and report, whole runs",
        f"{len(FREE_KIB)} sizes of disk, {kept} results stored before it was full",
        "no traceback, exit status 1 or 2; with room again, results as if left alone",
    )


needs_root = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("setpriv"), reason="needs root, who may become anybody, and setpriv"
)


@pytest.fixture
def anybodys():
    """A folder of that user, below none that is closed to it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, ANYBODY, ANYBODY)
        yield Path(folder)


@needs_root
def test_a_user_without_a_home_tracks_and_finishes(anybodys):
    """One in no list of users, who may write to the outputs alone, with a run name too long for W&B."""
    outputs = anybodys
    becoming = [
        "setpriv", f"--reuid={ANYBODY}", f"--regid={ANYBODY}", "--clear-groups", f"--inh-caps={CAPABILITIES}",
        f"--ambient-caps={CAPABILITIES}", f"--bounding-set={CAPABILITIES}",
    ]  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    name = "r" * 140
    done = run(
        outputs, f"run_name={name}", "arm=base,me_icpo", "benchmark.limit=2", "tracking=wandb",
        "tracking.mode=offline", before=becoming, environment=environment,
    )  # fmt: skip
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    cells = run_cells(outputs, name)
    tracked = sorted({path.relative_to(outputs / name).parts[0] for path in outputs.rglob("*.wandb")})
    assert tracked == [*(cell.name for cell in cells), "report"], done.stderr
    assert (outputs / name / "report" / "table.csv").exists()
    report_row(
        "a user without a home or a name, with W&B and a run name of 140 characters",
        f"1 run of {len(cells)} cells",
        "ends as any other; records, table and W&B's offline files are written",
    )
