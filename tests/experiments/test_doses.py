"""The table and figure of doses, on made-up cells."""

import json

import pytest

from tests.experiments.scripts import load
from tests.experiments.test_nano_tables import write_cell


@pytest.fixture
def script():
    return load("nano/make_doses")


def write_json_cell(folder, metrics):
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    (folder / "metrics.json").write_text(json.dumps(metrics))


def write_model(folder, model, contexts):
    gate = {f"gate/{name}": 0.5 for name in ("none", "right_1/1", "right_0/1", "wrong_1/1", "wrong_0/1")}
    write_json_cell(folder / "train" / model, {**gate, "num_tagged_examples": contexts})


def write_probe(folder, model, shift):
    found = {"value": shift, "low": shift - 0.1, "high": shift + 0.1, "p": 0.001, "num_questions": 50}
    metrics = {"backbone": model, "shift_right_tag0": found, "shift_wrong_tag0": None, "theory_r2": 0.5}
    metrics |= {"step_size": None, "slope": None}
    write_json_cell(folder / "probe" / f"{model}-arith_l3-default", metrics)


def test_a_row_holds_what_was_trained_probed_and_gained(tmp_path, script):
    for model, contexts in (("base", 0), ("coin", 70), ("dose_1", 64), ("dose_1_64", 1), ("dose_0", 0)):
        write_model(tmp_path, model, contexts)
    write_probe(tmp_path, "dose_1", -0.2)
    for arm, right in (("base", [1, 0]), ("full", [2, 4]), ("without_entropy", [4, 4])):
        for benchmark in ("arith_l3", "arith_l4"):
            for model, found in (("dose_1", right), ("coin", [1, 1])):
                write_cell(tmp_path / "ablation", arm, found, benchmark=benchmark, backbone=model)
    rows = script.rows_of(tmp_path)
    assert [row["model"] for row in rows] == ["dose_0", "dose_1_64", "dose_1", "coin"]
    full = rows[2]
    assert full["shift_right_tag0"] == -0.2 and "shift_wrong_tag0" not in full
    assert full["ME-ICPO - base"] == pytest.approx(5 / 8) and full["ME-ICPO - base pairs"] == 4
    assert full["w/o entropy - ME-ICPO"] == pytest.approx(2 / 8)
    beside = "gain minus dose_1's"
    assert rows[3][beside] == pytest.approx(-5 / 8) and beside not in full
    assert "ME-ICPO - base" not in rows[0] and beside not in rows[0], "not measured, so no number"


def test_tables_leave_blanks_and_the_figure_is_drawn(tmp_path, script):
    for model, contexts in (("dose_0", 0), ("dose_1", 64)):
        write_model(tmp_path, model, contexts)
    write_probe(tmp_path, "dose_1", 0.2)
    rows = script.rows_of(tmp_path)
    acceptance, probed, judged = script.tables(rows).split("\n\n")
    assert acceptance.splitlines()[3] == "| dose_1 | 64 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 |"
    assert "+0.20 [+0.10, +0.30]" in probed.splitlines()[3] and "+" not in probed.splitlines()[2]
    assert judged.splitlines()[2:4] == ["| dose_0 |  |  |", "| dose_1 | fails | fails |"]
    assert len(script.draw(rows).axes) == 4
