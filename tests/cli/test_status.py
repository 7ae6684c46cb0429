import json

import pytest

from icpo.cli import status
from icpo.store import CellRecords, note_planned


@pytest.fixture
def outputs(tmp_path):
    """A run whose three planned cells are done, failed and missing."""
    note_planned(tmp_path / "run", ["one", "two", "three"])
    for name, state, reason in (("one", "done", ""), ("two", "failed", "EngineError: out of memory\nmore")):
        with opened(tmp_path / "run" / name) as records:
            records.mark(state, reason, questions_done=2, questions_total=4, generated_tokens=12345)
            if state == "done":
                records.write_metrics({})
    return tmp_path


def opened(folder):
    return CellRecords(folder, config={}, config_digest="d")


def test_every_cell_has_a_row_also_those_not_begun(outputs, capsys):
    with opened(outputs / "run" / "other") as records:
        records.mark("running", questions_done=1, questions_total=4)
        assert status.main(["run", "--outputs", str(outputs)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["one", "done"],
        ["other", "running"],
        ["three", "missing"],
        ["two", "failed"],
    ]
    assert "2/4" in lines[4]
    assert "12,345" in lines[4]
    assert lines[4].endswith("EngineError: out of memory")
    assert lines[5] == "1 done, 1 running, 1 missing, 1 failed"


def test_times_are_shown_as_the_progress_shows_them():
    row = {"cell": "c", "state": "running", "questions_done": 1, "questions_total": 2, "wall_seconds": 3725.0}
    assert status._shown(row)[4:6] == ["1:02:05", "1:02:05"]
    assert status._shown({"cell": "c", "state": "missing"})[4:6] == ["-:--", "-:--"]


def test_a_killed_cell_is_shown_as_failed(outputs):
    with opened(outputs / "run" / "other") as records:
        records.mark("running")
    [row] = [row for row in status.run_status(outputs, "run") if row["cell"] == "other"]
    assert row["state"] == "failed"
    assert "killed" in row["reason"]


def test_a_failed_cell_names_its_log_and_no_other_does(outputs, capsys):
    logs = {name: outputs / "run" / name / "run.log" for name in ("one", "two")}
    for log in logs.values():
        log.write_text("Traceback")
    status.main(["run", "--outputs", str(outputs)])
    one, _, two = capsys.readouterr().out.splitlines()[1:4]
    assert two.endswith(f"EngineError: out of memory ({logs['two']})")
    assert "run.log" not in one


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "metrics.json is gone, though the cell is done"), ("{", "metrics.json")]
)
def test_a_cell_without_its_metrics_is_not_done(outputs, content, reason):
    metrics = outputs / "run/one/metrics.json"
    metrics.unlink()
    if content:
        metrics.write_text(content)
    one, *_ = status.run_status(outputs, "run")
    assert one["state"] == "damaged" and reason in one["reason"]


def test_a_damaged_status_does_not_hide_the_other_cells(outputs):
    (outputs / "run/one/status.json").write_text('{"state"')
    rows = {row["cell"]: row for row in status.run_status(outputs, "run")}
    assert {name: row["state"] for name, row in rows.items()} == {
        "one": "damaged", "two": "failed", "three": "missing",
    }  # fmt: skip
    assert "Restore it, or delete it" in rows["one"]["reason"]


@pytest.mark.parametrize("value", [["x"], {"a": 1}, None, "x", 3])
def test_values_of_another_kind_do_not_hide_the_other_cells(outputs, capsys, value):
    path = outputs / "run/one/status.json"
    path.write_text(json.dumps(dict.fromkeys(set(json.loads(path.read_text())) - {"crc32"}, value)))
    assert status.main(["run", "--outputs", str(outputs)]) == 1
    one, three, two = capsys.readouterr().out.splitlines()[1:4]
    assert one.split()[:2] == ["one", "damaged"] and one.endswith("delete it and run again.")
    assert [three.split()[1], two.split()[1]] == ["missing", "failed"]


def test_all_done_is_said_by_the_exit_status(tmp_path):
    with opened(tmp_path / "run" / "cell") as records:
        records.write_metrics({})
        records.mark("done")
    assert status.main(["run", "--outputs", str(tmp_path)]) == 0


def test_a_run_that_is_not_there_is_named_with_those_that_are(outputs, caplog):
    assert status.main(["rum", "--outputs", str(outputs)]) == 2
    assert "rum holds no cells. Runs there: run." in caplog.text


def test_seconds_left_follow_the_pace_so_far():
    row = {"state": "running", "questions_done": 10, "questions_total": 40, "wall_seconds": 60.0}
    assert status.seconds_left(row) == 180
    assert status.seconds_left(row | {"questions_done": 0}) is None
    assert status.seconds_left(row | {"state": "done"}) is None
