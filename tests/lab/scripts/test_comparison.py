import pandas as pd
import pytest

from icpo.lab.scripts.comparison import main, write_comparison
from icpo.report.frame import run_frame
from tests.report.stored_runs import MadeUpCell


def test_tables_are_written_in_percent_for_readers_and_in_fractions_for_scripts(tmp_path):
    MadeUpCell("hmmt", backbone="qwen7b", k=16).write(tmp_path, "run")
    MadeUpCell("amc", backbone="qwen7b", k=16).write(tmp_path, "run")
    markdown, paths = write_comparison(run_frame(tmp_path, "run"), "harder", tmp_path)
    assert [path.name for path in paths] == [f"harder_vs_paper.{suffix}" for suffix in ("md", "tex", "csv")]
    assert "| hmmt | Mean@16 | quick | 6 x 2 | 1.0 |" in markdown
    assert "\\begin{tabular}" in paths[1].read_text()
    table = pd.read_csv(paths[2])
    assert 0.0104 in table["paper_value"].tolist()
    alone = table[table["benchmark"] == "amc"]
    assert len(alone) == 2 and alone["paper_value"].isna().all(), "ours without the paper's follow"
    assert table["verdict"].isna().sum() == 2


def test_a_run_that_is_not_there_ends_the_script_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_table.py", "none", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match="no run 'none'"):
        main(tmp_path / "harder")
