"""What several processes write of one run: the plan, and files made from all that is stored."""

import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from icpo.errors import RecordsError
from icpo.store import BEGAN, note_planned, planned_cells, written_in_turn


def test_the_plan_is_all_that_was_ever_asked_for(tmp_path):
    note_planned(tmp_path / "run", ["b", "a"])
    note_planned(tmp_path / "run", ["a", "c"])
    assert planned_cells(tmp_path / "run") == [tmp_path / "run" / name for name in "abc"]


def test_a_command_s_own_plan_is_what_was_requested_since_it_began(tmp_path):
    note_planned(tmp_path, ["old", "again"])
    for name in ("old", "again"):
        os.utime(tmp_path / "planned" / name, (1, 1))
    note_planned(tmp_path, ["again", "new"])
    assert planned_cells(tmp_path, since=BEGAN) == [tmp_path / "again", tmp_path / "new"]


def test_a_run_that_was_never_begun_has_no_plan(tmp_path):
    assert planned_cells(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(RecordsError, match="run/planned"):
        note_planned(tmp_path / "run", ["a"])


def test_files_take_their_places_whole_and_nothing_else_is_left(tmp_path):
    with written_in_turn(tmp_path / "report") as drafts:
        (drafts / "table").write_text("new")
        assert not (tmp_path / "report" / "table").exists()
    assert [path.name for path in (tmp_path / "report").iterdir()] == ["table"]
    assert (tmp_path / "report" / "table").read_text() == "new"


def test_where_writing_fails_all_stays_as_it_was(tmp_path):
    (tmp_path / "table").write_text("old")
    with pytest.raises(RecordsError, match="disk is full"), written_in_turn(tmp_path) as drafts:
        (drafts / "table").write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("table", "old")]


def test_who_comes_last_has_seen_what_all_before_stored(tmp_path):
    """Each stores a cell, then writes all cells that it sees; a slow one overwrites no fuller file."""
    (tmp_path / "cells").mkdir()

    def work(cell):
        (tmp_path / "cells" / str(cell)).touch()
        with written_in_turn(tmp_path / "report") as drafts:
            seen = sorted(path.name for path in (tmp_path / "cells").iterdir())
            time.sleep(0.05 * (3 - cell))
            (drafts / "table").write_text(" ".join(seen))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert (tmp_path / "report" / "table").read_text() == "0 1 2"
