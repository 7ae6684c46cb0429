"""A cell goes on with the settings and the code that it began with, and what differs is told once."""

import json

import pytest

from icpo.errors import OtherResults
from icpo.evaluation.cell import run_cell
from icpo.store import CellRecords, job_settings, read_manifest, read_status
from icpo.tracking import NoTracker


class Job:
    def run(self, cell):
        return {"score": 1}


def go(folder, *, accepted=False, **sources):
    values = {"run_name": "r", "accept_code_change": accepted}
    run_cell(Job(), tracker=NoTracker(), folder=folder, values=values, digest="d", sources=sources)


def test_a_cell_whose_own_code_changed_is_refused_and_left_as_it_is(cell):
    go(cell, Mine="abc")
    assert read_manifest(cell)["resolved"] == {"the code of Mine": "abc"}
    go(cell, Mine="abc")
    status = read_status(cell)
    with pytest.raises(OtherResults, match=r"Mine 'abc'.*'def'.*run_name"):
        go(cell, Mine="def")
    assert (read_status(cell), read_manifest(cell)["resolved"]) == (status, {"the code of Mine": "abc"})


def test_a_change_of_own_code_that_one_has_looked_at_is_accepted_and_both_digests_are_recorded(cell):
    go(cell, Mine="abc")
    with pytest.raises(OtherResults, match=r"\+accept_code_change=true"):
        go(cell, Mine="def")
    go(cell, accepted=True, Mine="def")
    go(cell, Mine="def")
    manifest = read_manifest(cell)
    [change] = manifest["accepted_changes"]
    assert (change["what"], change["was"], change["is"]) == ("the code of Mine", "abc", "def")
    assert manifest["resolved"] == {"the code of Mine": "def"}


def test_a_cell_stored_before_code_was_is_accepted_and_its_code_is_known_from_then_on(cell):
    go(cell)
    assert "resolved" not in read_manifest(cell)
    go(cell, Mine="abc")
    with pytest.raises(OtherResults, match="Mine"):
        go(cell, Mine="def")


def test_groups_are_stored_once_and_the_job_is_read_with_them(cell):
    job = {"method": {"n": 2}, "own": 3, "title": None}
    CellRecords(cell, config={"method": {"n": 2}, "seeds": [0], "job": job}, config_digest="a").close()
    stored = read_manifest(cell)["config"]
    assert json.dumps(stored).count('"n": 2') == 1
    assert job_settings(stored) == job
    assert job_settings({"job": job}) == job, "as cells of earlier versions hold it"


def test_a_change_is_told_under_its_shortest_key_and_two_changes_are_two(cell):
    def config(weight, other):
        selector = {"weight": weight, "other": other}
        method = {"selector": selector, "weight": 3}
        return {"selector": selector, "method": method, "job": {"method": method, "selector": selector}}

    CellRecords(cell, config=config(1, 1), config_digest="a").close()
    with pytest.raises(OtherResults) as caught:
        CellRecords(cell, config=config(2, 5) | {"job": {"selector": {"weight": 9}}}, config_digest="b")
    changed = [line.strip() for line in str(caught.value).splitlines()[1:-1]]
    assert changed[-2:] == ["selector.other: 1 stored, 5 now", "selector.weight: 1 stored, 2 now"]
    assert "job.selector.weight: 1 stored, 9 now" in changed, "another change"
    assert not any(line.startswith("method.selector") for line in changed)


def test_secrets_of_a_configuration_are_not_stored(tmp_path):
    config = {"engine": {"api_key": "sk-1", "base_url": "http://me:hunter2@host"}, "job": {"token": "hf-1"}}
    with CellRecords(tmp_path / "cell", config=config, config_digest="d"):
        pass
    stored = (tmp_path / "cell" / "manifest.json").read_text()
    assert not any(secret in stored for secret in ("sk-1", "hunter2", "hf-1"))
