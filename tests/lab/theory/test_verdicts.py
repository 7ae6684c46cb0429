import json

import pytest

from icpo.errors import RecordsError
from icpo.lab.theory.verdicts import EXPERIMENTS, main, verdict_rows, write_verdicts

CLAIM = {"source": "Theorem 1", "statement": "the sky is up", "verdict": "fails", "evidence": "3 of 4"}


@pytest.fixture
def outputs(tmp_path):
    cell = tmp_path / "kl_sandwich" / "kl_sandwich"
    cell.mkdir(parents=True)
    (cell / "metrics.json").write_text(json.dumps({"claims": [CLAIM, CLAIM]}))
    return tmp_path


def test_rows_are_the_claims_and_what_was_not_run(outputs):
    rows = verdict_rows(outputs)
    assert rows.count(("kl_sandwich", "Theorem 1", "the sky is up", "fails", "3 of 4")) == 2
    assert {row[0] for row in rows if row[3] == "not run"} == set(EXPERIMENTS) - {"kl_sandwich"}


def test_table_is_printed(outputs, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["theory_verdicts", str(outputs)])
    main()
    printed = capsys.readouterr().out
    assert "the sky is up" in printed
    assert "not run" in printed


def test_verdicts_are_written_beside_their_experiment_with_bars_escaped(tmp_path):
    (tmp_path / "convergence").mkdir()
    write_verdicts(
        [("convergence", "ours", "|x| <= 1", "holds", "2"), ("kl_sandwich", "", "", "not run", "")], tmp_path
    )
    lines = (tmp_path / "convergence" / "verdicts.md").read_text().splitlines()
    assert lines[-1] == r"| ours | \|x\| <= 1 | holds | 2 |"
    assert "+exp=convergence" in lines[0]


def test_nothing_run_says_how(tmp_path):
    with pytest.raises(RecordsError, match="make theory"):
        verdict_rows(tmp_path)


def test_metrics_of_something_else_are_refused(outputs):
    (outputs / "kl_sandwich" / "kl_sandwich" / "metrics.json").write_text("{}")
    with pytest.raises(RecordsError, match="has no claims"):
        verdict_rows(outputs)
