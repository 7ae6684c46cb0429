import json
import subprocess
import sys

import pytest

from icpo.errors import RecordsError
from icpo.store import read_status, settle
from icpo.store.status import Status

DIES = """
import os, signal, sys
from pathlib import Path
from icpo.store import CellRecords
records = CellRecords(Path(sys.argv[1]), config={"method": {"num_rounds": 2}}, config_digest="d1")
records.mark("running", questions_done=3, questions_total=9, tokens=70)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_cell_is_failed_and_keeps_its_progress(cell, reopen):
    subprocess.run([sys.executable, "-c", DIES, str(cell)])
    assert json.loads((cell / "status.json").read_text())["state"] == "running"
    status = read_status(cell)
    assert status["state"] == "failed"
    assert "killed" in status["reason"]
    assert (status["questions_done"], status["questions_total"], status["tokens"]) == (3, 9, 70)
    assert json.loads((cell / "status.json").read_text())["state"] == "running", "reading writes nothing"
    settle(cell)
    stored = json.loads((cell / "status.json").read_text())
    assert (stored["state"], stored["questions_done"]) == ("failed", 3)
    assert stored["finished"]
    with reopen() as records:
        records.mark("running")
        assert read_status(cell)["state"] == "running"
        assert settle(cell)["state"] == "running", "a cell whose lock is held is left alone"
    assert read_status(cell)["num_sessions"] == 2


def test_wall_seconds_add_up_over_sessions(cell, reopen):
    clock = [0.0]
    with reopen() as records:
        records.mark("running")
    for _ in range(2):
        status = Status(cell, clock=lambda: clock[0])
        clock[0] += 10
        status.mark("done")
    assert read_status(cell)["wall_seconds"] == pytest.approx(20, abs=1)
    assert read_status(cell)["num_sessions"] == 3


def test_a_done_cell_stays_done(cell, reopen):
    with reopen() as records:
        records.mark("done", questions_done=9)
    assert settle(cell)["state"] == "done"
    assert settle(cell.with_name("absent")) is None


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("wall_seconds", "x", "wall_seconds .*'x'"),
        ("questions_done", [1], r"questions_done .*\[1\]"),
        ("generated_tokens", None, "generated_tokens .*None"),
        ("num_sessions", True, "num_sessions .*True"),
        ("questions_total", float("nan"), "questions_total .*nan"),
        ("state", ["done"], r"state .*\['done'\]"),
        ("reason", 3, "reason .*3"),
    ],
)
def test_a_value_of_another_kind_is_named_with_its_file(cell, reopen, name, value, fault):
    with reopen() as records:
        records.mark("done")
    row = json.loads((cell / "status.json").read_text())
    del row["crc32"]
    (cell / "status.json").write_text(json.dumps(row | {name: value}))
    message = rf"status\.json: {fault}"
    for read in (read_status, settle, lambda _: reopen()):
        with pytest.raises(RecordsError, match=message):
            read(cell)


def test_a_status_that_says_little_is_gone_on_with(cell, reopen):
    cell.mkdir(parents=True)
    (cell / "status.json").write_text("{}")
    with reopen() as records:
        records.mark("done")
    assert read_status(cell)["num_sessions"] == 1


def test_a_run_refused_for_other_results_leaves_their_status(cell, reopen):
    with reopen() as records:
        records.resolve({"benchmark_digest": "a"})
        records.mark("done", questions_done=9)
    stored = (cell / "status.json").read_text()
    with pytest.raises(RecordsError, match=r"benchmark_digest 'a'.*'b'"), reopen() as records:
        records.mark("running")
        records.resolve({"benchmark_digest": "b"})
    assert (cell / "status.json").read_text() == stored
    (cell / "status.json").unlink()
    with pytest.raises(RecordsError), reopen() as records:
        records.resolve({"benchmark_digest": "b"})
    assert read_status(cell)["state"] == "failed", "where nothing was said, the refusal is"


def test_a_reason_is_stored_without_secrets_and_control_characters(cell, reopen):
    with reopen() as records:
        records.mark("failed", "GET http://me:hunter2@host/?api_key=sk-1 gave \x1b[2J")
    stored = (cell / "status.json").read_text()
    assert "hunter2" not in stored and "sk-1" not in stored
    assert "\x1b" not in read_status(cell)["reason"]
