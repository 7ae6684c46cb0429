import json
import logging
import re
from pathlib import Path

import pandas as pd
import pytest

from icpo.cli import report
from icpo.config import config_source
from icpo.errors import RecordsError
from icpo.report import question_frame
from icpo.store import read_metrics
from tests.end_to_end.fakes import questions_file, run
from tests.report.stored_runs import MadeUpCell, me_icpo
from tests.store.editing import rewrite_lines

DOCS = Path(config_source()).parent / "docs"


@pytest.fixture
def outputs(tmp_path):
    """The base and ME-ICPO, the latter with finals after 0, 1 and 2 rounds; 6 questions, 2 seeds."""
    MadeUpCell().write(tmp_path, "run")
    me_icpo(finals_after=(0, 1, 2)).write(tmp_path, "run")
    return tmp_path


def metrics_of(outputs, cell):
    return read_metrics(outputs / "run" / cell)


def test_a_row_is_a_question_a_seed_a_cell_and_a_number_of_rounds(outputs):
    frame = question_frame("run", outputs=outputs)
    assert len(frame) == 6 * 2 * (1 + 3)
    assert not frame.duplicated(["cell", "question_id", "seed", "num_rounds"]).any()
    assert set(frame.loc[frame.method == "me_icpo", "num_rounds"]) == {0, 1, 2}


def test_means_and_sums_are_those_that_the_metrics_hold(outputs):
    frame = question_frame("run", outputs=outputs)
    for cell, rows in frame.groupby("cell"):
        metrics = metrics_of(outputs, cell)
        last = rows[rows.num_rounds == rows.num_rounds.max()]
        for name in ("mean_at_k", "accuracy", "majority_at_k", "pass_at_k"):
            assert last[name].mean() == pytest.approx(metrics[name]["value"]), (cell, name)
        for n, at_n in metrics.get("by_num_rounds", {}).items():
            found = rows.loc[rows.num_rounds == int(n), "mean_at_k"].mean()
            assert found == pytest.approx(at_n["mean_at_k"]["value"]), n
    base = frame[frame.method == "direct"]
    assert base.generated_tokens.sum() == metrics_of(outputs, base.cell.iloc[0])["generated_tokens"]


def test_a_cost_is_that_of_a_run_that_ends_with_these_finals(tmp_path):
    cell, _ = run(tmp_path / "run", questions_file(tmp_path), "method.finals_after=[0,2]")
    frame = question_frame("run", outputs=tmp_path)
    metrics = read_metrics(cell)
    for n in (0, 2):
        told = metrics["by_num_rounds"][str(n)]
        rows = frame[frame.num_rounds == n]
        assert rows.generated_tokens.sum() == told["generated_tokens"] > 0
        assert rows.num_requests.sum() == told["num_requests"]


def test_settings_that_vary_are_columns_and_each_is_told_once(tmp_path):
    questions = questions_file(tmp_path)
    for instalments in ("[1,2]", "[3]"):
        settings = ["selector=entropy_racing", f"selector.instalments={instalments}"]
        name = f"racing{instalments[1]}"
        run(tmp_path / "run", questions, *settings, f"method.label={name}", f"arm={name}")
    frame = question_frame("run", outputs=tmp_path)
    [varying] = [column for column in frame if "." in column]
    assert varying == "method.selector.instalments"
    assert dict(zip(frame.label, frame[varying], strict=True)) == {"racing1": "[1, 2]", "racing3": "[3]"}


def test_several_runs_stand_in_one_frame(outputs):
    MadeUpCell(protocol="small").write(outputs, "other")
    frame = question_frame("run", "other", outputs=outputs)
    assert frame.groupby("run").size().to_dict() == {"run": 48, "other": 12}


def test_a_damaged_cell_is_left_out_with_a_warning(outputs, caplog):
    damaged = MadeUpCell(benchmark="arith_l2").write(outputs, "run")
    (damaged / "scores.jsonl").write_text("{}\n")
    with caplog.at_level(logging.WARNING):
        frame = question_frame("run", outputs=outputs)
    assert set(frame.benchmark) == {"arith_l1"}
    assert f"{damaged} is left out: unreadable" in caplog.text


def test_scores_without_their_results_are_left_out_with_a_warning(outputs, caplog):
    torn = MadeUpCell(benchmark="arith_l2").write(outputs, "run")
    rewrite_lines(torn / "results.jsonl", lambda rows: rows[1:])
    with caplog.at_level(logging.WARNING):
        frame = question_frame("run", outputs=outputs)
    assert set(frame.benchmark) == {"arith_l1"}
    assert f"{torn} is left out: " in caplog.text and "results.jsonl: 1 lines are gone" in caplog.text


def test_where_every_cell_is_left_out_nothing_is_written(tmp_path, caplog):
    torn = MadeUpCell().write(tmp_path, "run")
    (torn / "results.jsonl").write_text("")
    with pytest.raises(RecordsError, match="No cell of run"):
        question_frame("run", outputs=tmp_path)
    assert report.main(["run", "--outputs", str(tmp_path), "--questions"]) == 2
    assert "No cell of run" in caplog.text
    assert not (tmp_path / "run/report/questions.csv").exists()


def test_a_run_that_is_not_there_is_refused(outputs):
    with pytest.raises(RecordsError, match=r"none .*scores"):
        question_frame("none", outputs=outputs)


def test_the_report_writes_it_as_a_csv_file_where_asked(outputs):
    path = outputs / "run/report/questions.csv"
    assert report.main(["run", "--outputs", str(outputs)]) == 0
    assert not path.exists()
    assert report.main(["run", "--outputs", str(outputs), "--questions"]) == 0
    written, made = pd.read_csv(path), question_frame("run", outputs=outputs)
    assert list(written) == list(made) and len(written) == len(made)
    assert written.mean_at_k.tolist() == made.mean_at_k.tolist()


def test_the_page_shows_a_program_that_runs_and_names_the_columns(tmp_path, monkeypatch, capsys):
    MadeUpCell().write(tmp_path / "outputs", "quickstart")
    monkeypatch.chdir(tmp_path)
    section = (DOCS / "dashboards.md").read_text().partition("## In pandas")[2].partition("\n## ")[0]
    [program] = re.findall(r"```python\n(.*?)```", section, re.S)
    exec(program, {})
    assert "arith_l1" in capsys.readouterr().out
    *facts, varying = re.findall(r"^\| (`.*?) \|", section, re.M)
    assert re.findall(r"`(\w+)`", "".join(facts)) == list(question_frame("quickstart"))
    assert varying.startswith("`method.")


def test_what_metrics_and_scores_hold_is_described(tmp_path):
    cell, _ = run(tmp_path, questions_file(tmp_path), "method.finals_after=[0,2]")
    section = (DOCS / "reliability.md").read_text().partition("## A line of scores.jsonl")[2]
    scores, metrics = re.findall(r"```\n(.*?)```", section, re.S)[:2]
    [line, *_] = (cell / "scores.jsonl").read_text().splitlines()
    assert set(json.loads(line)) - {"crc32"} <= set(re.findall(r'"(\w+)"', scores))
    assert set(read_metrics(cell)) <= set(re.findall(r"\w+", metrics))
