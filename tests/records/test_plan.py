"""Which cells a run was asked for."""

import pytest

from icpo.errors import RecordsError
from icpo.records import note_planned, planned_cells


def test_the_plan_is_all_that_was_ever_asked_for(tmp_path):
    note_planned(tmp_path / "run", ["b", "a"])
    note_planned(tmp_path / "run", ["a", "c"])
    assert planned_cells(tmp_path / "run") == [tmp_path / "run" / name for name in "abc"]


def test_a_run_that_was_never_begun_has_no_plan(tmp_path):
    assert planned_cells(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(RecordsError, match="run/planned"):
        note_planned(tmp_path / "run", ["a"])
