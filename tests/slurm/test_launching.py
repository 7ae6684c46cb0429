"""A run as SLURM jobs: finished, failing, killed, pre-empted, timed out, orphaned."""

import json
import os
import signal
import subprocess
import sys

import pytest

from icpo.store import MANIFEST_NAME, run_cells
from icpo.store.json_files import replace_json
from icpo.store.manifest import read_manifest
from icpo.store.repair import verify
from tests.reliability import report_row
from tests.slurm.conftest import ON_SLURM, ROOT, wait_until
from tests.slurm.sandbox import MAX_ARRAY_SIZE, NUM_CPUS
from tests.stored import read_results

pytestmark = pytest.mark.slurm


def rows(launcher):
    return {
        cell.name: sorted(read_results(cell), key=lambda row: (row["seed"], row["question_id"]))
        for cell in run_cells(launcher.run.parent, "run")
    }


def assert_same(launcher, reference):
    assert rows(launcher) == rows(reference)
    tables = [(each.run / "report" / "table.csv").read_text() for each in (launcher, reference)]
    assert tables[0] == tables[1]


def assert_goes_on_to_the_same_end(launcher, reference, what):
    assert launcher.status("me_icpo")["num_sessions"] >= 2
    name = reference.cell("me_icpo").name
    assert rows(launcher)[name] == rows(reference)[name]
    assert verify(launcher.cell("me_icpo")).num_records == verify(reference.cell("me_icpo")).num_records
    report_row(f"SLURM: {what}", "1 run", "ends with the results of a run that was left alone")


def some_are_done(launcher):
    return launcher.status("me_icpo").get("questions_done", 0) >= 2


def test_array_jobs_give_the_results_and_the_report_of_a_run_without_slurm(launcher, alone):
    assert launcher.finish(launcher.start(*ON_SLURM)) == 0, launcher.said
    assert_same(launcher, alone)
    assert launcher.status("direct")["state"] == launcher.status("me_icpo")["state"] == "done"
    report_row("SLURM: array jobs", "1 run", "results and table as without SLURM")


@pytest.mark.parametrize("wrong", ["config_digest", "resolved"])
def test_a_cell_that_fails_stops_no_other_and_the_exit_status_says_so(launcher, alone, wrong):
    """At the door, where only the launcher can tell of it, or inside, where the cell's status does."""
    name = alone.cell("direct").name
    manifest = read_manifest(alone.cell("direct"))
    other = {"config_digest": "other", "resolved": manifest["resolved"] | {"engine_identity": "other"}}
    (launcher.run / name).mkdir(parents=True)
    replace_json(launcher.run / name / MANIFEST_NAME, manifest | {wrong: other[wrong]})
    assert launcher.finish(launcher.start(*ON_SLURM)) != 0
    if wrong == "resolved":
        assert launcher.status("direct")["state"] == "failed"
        assert "engine_identity" in launcher.status("direct")["reason"]
        assert launcher.status("me_icpo")["state"] == "done", "the launcher waits for all"
    else:
        assert "another configuration" in launcher.said
        wait_until(lambda: launcher.status("me_icpo").get("state") == "done")
    assert rows(launcher)[alone.cell("me_icpo").name] == rows(alone)[alone.cell("me_icpo").name]
    assert (launcher.run / "report" / "table.csv").exists()


def test_a_job_killed_by_the_system_is_failed_and_what_is_missing_is_done_by_the_next_run(launcher, alone):
    process = launcher.start(*ON_SLURM, "method=me_icpo", seconds_per_batch=1)
    wait_until(lambda: some_are_done(launcher))
    os.kill(launcher.status("me_icpo")["pid"], signal.SIGKILL)
    assert launcher.finish(process) != 0
    stored = json.loads((launcher.cell("me_icpo") / "status.json").read_text())
    assert stored["state"] == "failed"
    assert "killed" in stored["reason"]
    before = rows(launcher)[launcher.cell("me_icpo").name]
    assert 0 < len(before) < 12
    assert launcher.finish(launcher.start("method=me_icpo")) == 0, launcher.said
    after = rows(launcher)[launcher.cell("me_icpo").name]
    assert [row for row in after if row in before] == before
    assert_goes_on_to_the_same_end(launcher, alone, "a job killed with SIGKILL")


def test_a_killed_launcher_costs_nothing_and_the_report_is_made_later(launcher, alone, slurm):
    before = slurm.jobs()
    process = launcher.start(*ON_SLURM)
    wait_until(lambda: len(slurm.jobs()) >= len(before) + 2)
    process.kill()
    process.wait()
    wait_until(lambda: all(launcher.status(name).get("state") == "done" for name in ("direct", "me_icpo")))
    command = [sys.executable, "-m", "icpo.report", "run", "--outputs", str(launcher.run.parent)]
    assert subprocess.run(command, cwd=ROOT).returncode == 0
    assert_same(launcher, alone)
    report_row(
        "SLURM: a launcher killed with SIGKILL", "1 run of 2 jobs", "results and table as if left alone"
    )


def test_a_preempted_cell_is_requeued_and_goes_on(launcher, alone, slurm):
    process = launcher.start(*ON_SLURM, "method=me_icpo", seconds_per_batch=1)
    wait_until(lambda: some_are_done(launcher))
    urgent = ["sbatch", "--partition=high", f"--ntasks={NUM_CPUS}", "--output=/dev/null", "--wrap=sleep 2"]
    slurm.run(*urgent)
    assert launcher.finish(process) == 0, launcher.said
    assert_goes_on_to_the_same_end(launcher, alone, "a job that is pre-empted and requeued")


def test_a_cell_at_its_time_limit_is_requeued_and_goes_on(launcher, alone):
    """SLURM looks at time limits twice a minute, so the cell has to last longer than that."""
    limit = ["hydra.launcher.timeout_min=2", "hydra.launcher.signal_delay_s=60"]
    process = launcher.start(*ON_SLURM, *limit, "method=me_icpo", seconds_per_batch=4)
    assert launcher.finish(process) == 0, launcher.said
    assert_goes_on_to_the_same_end(launcher, alone, "a job at its time limit")


def test_an_array_that_is_too_large_is_refused_in_one_line_and_taken_in_parts(launcher):
    sweep = [
        *ON_SLURM,
        "method=direct",
        "benchmark.limit=1",
        "benchmark=arith_l1,arith_l2,arith_l3,arith_l4,arith_l5",
    ]
    assert launcher.finish(launcher.start(*sweep)) == 2
    [said] = [line for line in launcher.said.splitlines() if "icpo:" in line]
    parts = f"hydra.sweeper.max_batch_size={MAX_ARRAY_SIZE}"
    assert "did not take the 5 cells" in said and parts in said and "Traceback" not in launcher.said
    assert launcher.finish(launcher.start(*sweep, parts)) == 0, launcher.said
    assert len(run_cells(launcher.run.parent, "run")) == 5
    report_row(
        "SLURM: an array larger than it takes", "5 cells", f"one line that names {parts}, which runs them"
    )
