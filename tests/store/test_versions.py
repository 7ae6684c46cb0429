"""Cells of older versions, such as 1, whose files have no checksums: they are read, and never continued."""

import json
import shutil

import pytest

from icpo.cli import verify as records
from icpo.cli.regrade import main as regrade
from icpo.errors import OtherResults, RecordsError
from icpo.report import write_report
from icpo.store import CellRecords, load_results, load_scores, read_manifest, read_metrics
from icpo.store.extents import Extent
from icpo.store.health import verify
from icpo.store.json_files import Seal, decode, replace_json
from icpo.store.repair import salvage
from tests.end_to_end import fakes
from tests.store.values import result


def as_version_1(cell):
    """Takes the checksums and the format out of a cell's files."""
    key = read_manifest(cell)["config_digest"]
    for path in cell.glob("*.jsonl"):
        rows = [decode(line, Seal(key)) for line in path.read_bytes().splitlines()]
        path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    for path in cell.glob("*.json"):
        row = json.loads(path.read_bytes())
        row.pop("crc32", None)
        row.pop("format", None)
        path.write_text(json.dumps(row, indent=2) + "\n")
    return cell


@pytest.fixture
def old(tmp_path):
    cell, _ = fakes.run(tmp_path / "run", fakes.questions_file(tmp_path), "budget.num_rounds=2")
    return as_version_1(cell)


def test_version_1_is_verified_as_unchecked(old, capsys):
    health = verify(old)
    assert (health.verdict, health.is_sound, health.is_checked) == ("unchecked", True, False)
    assert records.main(["verify", str(old)]) == 0
    assert "unchecked" in capsys.readouterr().out


def test_version_1_is_reported_and_graded_again(old, tmp_path):
    stored, metrics = load_scores(old), read_metrics(old)
    report = write_report(tmp_path, "run")
    assert [cell.state for cell in report.cells] == ["done"] and report.cells[0].arms
    assert regrade(["run", "--outputs", str(tmp_path), "--write"]) == 0
    assert (load_scores(old), read_metrics(old)) == (stored, metrics)


def test_a_damaged_line_of_version_1_that_is_no_result_is_found(old):
    path = old / "results.jsonl"
    path.write_text(path.read_text().replace('"finals"', '"finalz"', 1))
    assert verify(old).verdict == "DAMAGED"


def test_a_run_that_holds_a_cell_of_version_1_is_not_continued(old):
    manifest = read_manifest(old)
    for folder in (old, old.with_name("another")):
        with pytest.raises(OtherResults, match=r"version 1 .*run_name=run_v3"):
            CellRecords(folder, config={"run_name": "run"}, config_digest=manifest["config_digest"])
    shutil.rmtree(old)
    CellRecords(old.with_name("another"), config={}, config_digest="d").close()


def test_a_cell_of_version_2_is_verified_reported_and_not_continued(tmp_path):
    cell, _ = fakes.run(tmp_path / "run", fakes.questions_file(tmp_path))
    manifest = {key: value for key, value in read_manifest(cell).items() if key != "extents"}
    replace_json(cell / "manifest.json", manifest | {"format": 2})
    assert verify(cell).verdict == "sound"
    assert write_report(tmp_path, "run").cells[0].arms
    with pytest.raises(OtherResults, match=r"version 2 .*run_name=quickstart_v3"):
        fakes.run(tmp_path / "run", fakes.questions_file(tmp_path))


def test_results_without_a_manifest_are_refused_and_the_ways_out_are_named(cell, reopen):
    with reopen() as opened:
        opened.append(result("a"))
    (cell / "manifest.json").unlink()
    with pytest.raises(RecordsError, match=r"no manifest\.json.*icpo verify.*icpo remove.*run_name"):
        CellRecords(cell, config={"other": 1}, config_digest="d2")
    assert not (cell / "manifest.json").exists()
    assert verify(cell).verdict == "DAMAGED"


def test_a_half_written_manifest_offers_no_way_to_relabel_results(cell, reopen):
    with reopen() as opened:
        opened.append(result("a"))
    path = cell / "manifest.json"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(RecordsError, match=r"manifest\.json is damaged.*icpo remove") as error:
        reopen()
    assert "delete it and run" not in str(error.value)


def test_results_of_another_configuration_are_refused(cell, reopen):
    with reopen() as opened:
        opened.append(result("a"))
    other = cell.with_name("other")
    CellRecords(other, config={"t": 2}, config_digest="d2").close()
    shutil.copy(cell / "results.jsonl", other / "results.jsonl")
    with pytest.raises(RecordsError, match="line 1"):
        load_results(other)
    assert any("1 lines damaged" in fault for fault in verify(other).faults)


def test_the_first_of_equal_lines_counts_and_the_rest_is_reported(cell, reopen, caplog):
    with reopen() as opened:
        opened.append(result("a", text="first"))
        opened.append(result("b"))
    path = cell / "results.jsonl"
    path.write_bytes(path.read_bytes() * 2)
    assert [(r.key, r.question.text) for r in load_results(cell)] == [
        (("a", 0), "first"),
        (("b", 0), "How many?"),
    ]
    assert "2 lines do not count" in caplog.text
    health = verify(cell)
    assert (health.num_results, health.verdict) == (2, "DAMAGED")
    assert any("2 lines do not count" in fault for fault in health.faults)


def test_a_line_of_a_question_that_was_never_asked_for_does_not_count(cell, reopen, caplog):
    """Its checksum is right, so that nothing but the cell's extent speaks against it."""
    with reopen() as opened:
        opened.extend(Extent(seeds=(0,), question_ids=("a", "b"), num_finals=1))
        for one in (result("a"), result("stranger"), result("b", seed=7)):
            opened.append(one)
        opened.mark("interrupted", questions_done=1)
    assert [one.key for one in load_results(cell)] == [("a", 0)]
    assert "2 lines do not count" in caplog.text
    assert any("2 lines do not count" in fault for fault in verify(cell).faults)
    with reopen() as opened:
        assert opened.done() == {("a", 0)}
    salvage(cell)
    assert not any("do not count" in fault for fault in verify(cell).faults)
