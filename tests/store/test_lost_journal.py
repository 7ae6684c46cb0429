"""A finished cell whose journal was lost says so, and comes back by salvage and the same command."""

import os

import pytest

from icpo.cli import verify as records
from icpo.errors import RecordsError
from icpo.store import load_results, read_metrics, read_status
from icpo.store.health import verify
from icpo.store.repair import remove, salvage
from tests.end_to_end import fakes
from tests.store.values import batches, result

SETTINGS = ("budget.num_rounds=2",)


def delete(path):
    path.unlink()


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("lose", [delete, cut_in_half])
def test_a_lost_journal_is_reported_and_sampled_again(tmp_path, caplog, lose):
    questions = fakes.questions_file(tmp_path)
    cell, _ = fakes.run(tmp_path / "run", questions, *SETTINGS)
    results, metrics = load_results(cell), read_metrics(cell)
    lose(cell / "journal.bin")
    assert verify(cell).verdict == "DAMAGED" and records.main(["verify", str(cell)]) == 1
    fakes.run(tmp_path / "run", questions, *SETTINGS)
    assert "lacks samples of" in caplog.text and "salvage" in caplog.text
    assert salvage(cell).is_sound
    assert read_status(cell)["state"] == "interrupted"
    _, engine = fakes.run(tmp_path / "run", questions, *SETTINGS)
    assert engine.requests and verify(cell).verdict == "sound" and read_status(cell)["state"] == "done"
    assert sorted(load_results(cell), key=lambda one: one.key) == sorted(results, key=lambda one: one.key)
    kept = {
        name: value
        for name, value in read_metrics(cell).items()
        if name not in ("wall_seconds", "engine_account")
    }
    assert kept == {name: metrics[name] for name in kept}


def test_a_cell_whose_samples_others_use_is_not_removed(cell, reopen):
    with reopen() as first:
        sampled = first.journal.put("k", batches("a", "b"))
        first.append(result("q", samples=sampled))
    other = cell.with_name("other")
    with reopen(other) as second:
        second.append(result("q", samples=sampled))
    with pytest.raises(RecordsError, match=r"samples.* other "):
        remove(cell)
    assert remove(other) == [other] and not other.exists() and cell.exists()
    assert remove(cell.parent) == [cell.parent] and not cell.parent.exists()


def test_a_cell_at_work_is_not_removed(cell, reopen):
    with reopen(), pytest.raises(RecordsError, match=f"process {os.getpid()}"):
        remove(cell)
    with pytest.raises(RecordsError, match="neither"):
        remove(cell.parents[1])
