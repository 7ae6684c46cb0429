"""Journals of other cells: which are looked at, how often, and that none stays open."""

import os
from pathlib import Path

import pytest

from icpo.store import JOURNAL_NAME, CellRecords, Texts
from icpo.store.shared import SharedJournals, journals_beside
from tests.store.values import batches


@pytest.fixture
def begin(tmp_path):
    def begin(name, engine="a model", path="questions.jsonl"):
        config = {"benchmark": {"path": path, "limit": len(name)}, "arm": name}
        records = CellRecords(tmp_path / "run" / name, config=config, config_digest=name)
        records.resolve({"engine_identity": engine})
        return records

    return begin


def test_only_cells_of_one_engine_and_the_same_questions_share(begin):
    for name, changes in {
        "same": {},
        "engine": {"engine": "another"},
        "questions": {"path": "others.jsonl"},
    }.items():
        with begin(name, **changes) as records:
            records.journal.put(f"of-{name}", batches("a"))
    with begin("new") as records:
        assert [f"of-{name}" in records.journal for name in ("same", "engine", "questions")] == [
            True,
            False,
            False,
        ]


def test_cells_of_a_kind_share_one_index_which_reads_on(begin):
    with begin("first") as first, begin("second") as second:
        index = journals_beside(first.folder)
        assert journals_beside(second.folder) is index
        index.refresh()
        first.journal.put("k", batches("a"))
        assert "k" not in index
        index.refresh()
        assert "k" in index


def test_no_journal_of_another_cell_stays_open(begin):
    for i in range(5):
        with begin(f"cell{i}") as records:
            records.journal.put(f"k{i}", batches("a"))
    with begin("new") as records:
        before = len(os.listdir("/proc/self/fd"))
        assert all(records.journal.get(f"k{i}") for i in range(5))
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_cell_whose_records_are_there_looks_at_no_other(begin, monkeypatch):
    with begin("other"):
        pass
    with begin("own") as records:
        records.journal.put("k", batches("a"))
    looked = []
    monkeypatch.setattr(SharedJournals, "refresh", lambda self: looked.append(self))
    with begin("own") as records:
        assert records.journal.get("k")
        assert not looked
        assert records.journal.get("unknown") is None
        assert len(looked) == 1


def test_a_journal_made_anew_is_read_from_its_beginning(begin):
    with begin("other") as other:
        other.journal.put("old", batches("a" * 500))
        index = journals_beside(other.folder)
        index.refresh()
    path: Path = other.folder / JOURNAL_NAME
    path.unlink()
    with begin("other") as other:
        sampled = other.journal.put("new", batches("b"))
        index.refresh()
        assert index.get("new") == sampled
        assert index.get("old") is None


def test_texts_index_each_journal_once(begin, monkeypatch):
    with begin("other") as other, begin("own") as own:
        other.journal.put("theirs", batches("a"))
        own.journal.put("ours", batches("b"))
    refresh, num = SharedJournals.refresh, []
    monkeypatch.setattr(SharedJournals, "refresh", lambda self: (num.append(1), refresh(self)))
    with Texts(own.folder) as texts:
        for _ in range(3):
            assert texts.of(["ours/0/0", "theirs/0/0"]) == {"ours/0/0": "b", "theirs/0/0": "a"}
    assert len(num) == 1
