import pandas as pd
import pytest

from icpo.errors import RecordsError
from icpo.report import write_report
from icpo.report.expected import compare, main, read_table, write_comparison
from tests.report.stored_runs import MadeUpCell, me_icpo

FIRST = "backbone,method,reward,selector,num_rounds,num_candidates,benchmark,metric,k"
HEADER = f"{FIRST},paper_value,paper_std,tolerance"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    outputs = tmp_path_factory.mktemp("outputs")
    MadeUpCell("aime2024").write(outputs, "run")
    me_icpo("aime2024").write(outputs, "run")
    write_report(outputs, "run")
    return outputs / "run"


def expect(folder, *rows):
    folder.mkdir(exist_ok=True)
    (folder / "expected.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    return folder


def test_each_number_of_the_paper_gets_ours_and_a_verdict(run, tmp_path):
    ours = read_table(run).query("method == 'direct' and metric == 'mean_at_k'").iloc[0]
    base = "nano,direct,,,,,aime2024"
    rows = [
        f"{base},mean_at_k,4,{ours.high + 0.01},,0",
        f"{base},accuracy,4,0.0,,1",
        "nano,me_icpo,majority,entropy,2,4,aime2024,mean_at_k,4,-0.5,,0.01",
        f"{base},mean_at_k,16,0.3,,0",
    ]
    compared = compare(read_table(run), expect(tmp_path / "x", *rows) / "expected.csv").set_index(
        ["method", "metric", "k"]
    )
    verdicts = compared["verdict"].to_dict()
    assert verdicts["direct", "mean_at_k", "4"] == "below"
    assert verdicts["direct", "accuracy", "4"] == "within"
    assert verdicts["me_icpo", "mean_at_k", "4"] == "above"
    assert verdicts["direct", "mean_at_k", "16"] == "not run"
    assert verdicts["me_icpo", "accuracy", "4"] == "", "ours stands there though the paper has no such number"
    row = compared.loc["direct", "mean_at_k", "4"]
    assert row["difference"] == pytest.approx(ours.value - ours.high - 0.01)


@pytest.mark.parametrize(("gap", "verdict"), [(0.009, "within"), (0.011, "below")])
def test_bars_read_off_a_figure_are_given_their_tolerance(run, tmp_path, gap, verdict):
    table = read_table(run)
    high = table.query("method == 'direct' and metric == 'mean_at_k'").iloc[0].high
    folder = expect(tmp_path / "x", f"nano,direct,,,,,aime2024,mean_at_k,4,{high + gap},,0.01")
    compared = compare(table, folder / "expected.csv")
    assert compared.query("method == 'direct' and metric == 'mean_at_k'")["verdict"].tolist() == [verdict]


def test_a_run_with_other_settings_is_not_compared(run, tmp_path):
    folder = expect(tmp_path / "x", "nano,me_icpo,majority,entropy,5,16,aime2024,mean_at_k,4,0.3,,0")
    compared = compare(read_table(run), folder / "expected.csv").query("num_rounds == '5'")
    assert compared["verdict"].tolist() == ["not run"]


def test_differences_are_no_arms(run):
    assert set(read_table(run)["method"]) == {"direct", "me_icpo"}


def test_tables_are_written_in_percent_for_readers_and_in_fractions_for_scripts(run, tmp_path):
    folder = expect(tmp_path / "harder", "nano,direct,,,,,aime2024,mean_at_k,4,0.1104,0.01,0")
    markdown, paths = write_comparison(run, folder)
    assert [path.name for path in paths] == [f"harder_vs_paper.{suffix}" for suffix in ("md", "tex", "csv")]
    assert "| 6 x 2 | 11.04 ±1.00 |" in markdown and "\\begin{tabular}" in paths[1].read_text()
    assert 0.1104 in pd.read_csv(paths[2])["paper_value"].tolist()


def test_a_run_without_a_table_is_named(tmp_path):
    with pytest.raises(RecordsError, match=r"python -m icpo\.report run"):
        read_table(tmp_path / "run")


def test_a_run_that_is_not_there_ends_the_script_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_table.py", "none", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match="no run 'none'"):
        main(expect(tmp_path / "x"))
