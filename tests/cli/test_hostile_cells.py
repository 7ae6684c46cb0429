"""What a file says never reaches the terminal as it is, and a folder that cannot be written is one line."""

import os

import pytest

from icpo.cli import dashboard, status
from icpo.cli.report import main as report
from icpo.store.health import verify
from tests.report.stored_runs import MadeUpCell
from tests.store.editing import rewrite_json

ESCAPES = "\x1b[2Jgone\x9b31m\u202e"


def test_escape_sequences_in_stored_files_are_shown_as_text(tmp_path, capsys):
    cell = MadeUpCell(
        extra={"benchmark": f"a{ESCAPES}", "label": f"b{ESCAPES}", "title": f"c{ESCAPES}"}
    ).write(tmp_path, "run")
    rewrite_json(cell / "status.json", lambda row: row | {"reason": f"why {ESCAPES}", "state": "failed"})
    assert status.main(["run", "--outputs", str(tmp_path)]) == 1
    assert report(["run", "--outputs", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    texts = [shown.out, shown.err]
    texts += [(tmp_path / "run/report" / name).read_text() for name in ("table.md", "table.tex", "table.csv")]
    assert not any(bad in text for text in texts for bad in ("\x1b", "\x9b", "\u202e"))
    assert "\\x1b[2Jgone" in shown.out


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, caplog):
    MadeUpCell().write(tmp_path, "run")
    (tmp_path / "run").chmod(0o555)
    assert dashboard.main(["run", "--outputs", str(tmp_path)]) == 2
    assert "cannot be written" in caplog.text


def test_a_file_in_the_way_of_the_dashboard_is_one_line(tmp_path, caplog):
    MadeUpCell().write(tmp_path, "run")
    (tmp_path / "run" / "dashboard").write_text("a file")
    assert dashboard.main(["run", "--outputs", str(tmp_path)]) == 2
    assert "dashboard" in caplog.text and "Traceback" not in caplog.text


def test_a_folder_in_the_place_of_a_file_is_named_by_verify(tmp_path):
    cell = MadeUpCell().write(tmp_path, "run")
    (cell / "metrics.json").unlink()
    (cell / "metrics.json").mkdir()
    assert any("metrics.json" in fault for fault in verify(cell).faults)
