"""SIGTERM and SIGINT to a run: what is in hand is kept, and it ends soon."""

import os
import signal
import subprocess
import sys
import time

import pytest

from icpo.store import read_status
from tests.end_to_end.kill_harness import ROOT, TINY
from tests.reliability import report_row
from tests.stored import read_results

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("reference"))


def start(outputs, seconds_per_batch):
    environment = os.environ | {
        "PYTHONPATH": f"{ROOT / 'tests' / 'slow_engine'}{os.pathsep}{ROOT}",
        "ICPO_TEST_SECONDS_PER_BATCH": str(seconds_per_batch),
    }
    command = [sys.executable, "-m", "icpo.run", *TINY, "engine.block_questions=2", "method=me_icpo,direct"]
    return subprocess.Popen(
        [*command, "run_name=run", f"output_root={outputs}"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def finished(outputs):
    process = start(outputs, 0)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return sorted_results(outputs)


def sorted_results(outputs):
    return {
        cell.name: sorted(read_results(cell), key=lambda row: row["question_id"]) for cell in cells(outputs)
    }


def cells(outputs):
    return sorted((outputs / "run").glob("nano-*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("seconds_per_batch", [0.5, 600], ids=["polling", "busy"])
def test_a_signal_ends_the_sweep_and_the_next_run_goes_on(tmp_path, reference, number, seconds_per_batch):
    process = start(tmp_path, seconds_per_batch)
    wanted = 2 if seconds_per_batch < 1 else 0
    until = time.monotonic() + 120
    while not (
        cells(tmp_path)
        and (status := read_status(cells(tmp_path)[0]))
        and status.get("questions_done", -1) >= wanted
        and (wanted or (time.sleep(1) is None))
    ):
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < until
        time.sleep(0.05)
    began = time.monotonic()
    process.send_signal(number)
    said, _ = process.communicate(timeout=240)
    assert time.monotonic() - began < 200  # of which 5 s wait for what is in hand; the machine may be busy
    assert process.returncode != 0
    assert "Traceback" not in said
    assert f"Stopped by {number.name}" in said
    [cell] = cells(tmp_path)
    status = read_status(cell)
    assert status["state"] == "interrupted"
    assert f"Stopped by {number.name}" in status["reason"]
    before = read_results(cell)
    assert len(before) >= wanted
    assert finished(tmp_path) == reference
    assert read_results(cell)[: len(before)] == before
    report_row(
        f"{number.name} to a sweep, " + ("polling" if wanted else "in a batch of a minute"),
        f"1 run, {len(before)} results stored before",
        "ended within 30 s; then results as if left alone",
    )
