"""The scripts that make figures and the cost table, on made-up runs in a temporary folder."""

import pandas as pd
import pytest

from icpo.errors import RecordsError
from icpo.report import write_report
from icpo.report.frame import run_frame
from icpo.report.paper import numbers_of
from icpo.store import read_metrics
from tests.experiments.scripts import load
from tests.report.stored_runs import MadeUpCell, me_icpo
from tests.store.editing import rewrite_json


def read_table(run):
    frame = run_frame(run.parent, run.name)
    return frame[~frame["is_difference"] & ~frame["is_pool"]]


@pytest.fixture(scope="module")
def backbones_run(tmp_path_factory):
    outputs = tmp_path_factory.mktemp("outputs")
    for backbone, base, gained in (("qwen7b", 0.2, 0.5), ("llama8b", 0.1, 0.3)):
        MadeUpCell("aime2024", backbone=backbone, skill=base).write(outputs, "backbones")
        me_icpo("aime2024", backbone=backbone, skill=gained).write(outputs, "backbones")
    write_report(outputs, "backbones")
    return outputs / "backbones"


@pytest.fixture(scope="module")
def sweep_outputs(tmp_path_factory):
    """A sweep of 100 n k tokens exactly, as many hundredths of seconds, and 7 k n^2 tokens of prompts."""
    outputs = tmp_path_factory.mktemp("outputs")
    for k in (2, 4, 8):
        cell = me_icpo("aime2024", num_rounds=3, finals_after=(1, 2, 3), k=k, skill=0.1 * k)
        num_runs = cell.num_questions * len(cell.seeds)
        folder = cell.write(outputs / f"k{k}", "x")
        costs = {"generated_tokens": 300 * k * num_runs, "wall_seconds": 3.0 * k * num_runs}
        metrics = read_metrics(folder) | costs
        metrics["generated_by_purpose"] = {"lookahead": 30 * k * num_runs}
        for n, part in metrics["by_num_rounds"].items():
            part["generated_tokens"] = 100 * int(n) * k * num_runs
            part["prompt_tokens"] = 7 * int(n) ** 2 * k * num_runs
        rewrite_json(folder / "metrics.json", lambda _, metrics=metrics: metrics)
        target = outputs / "sweep" / f"{cell.name}-k{k}"
        target.parent.mkdir(exist_ok=True)
        folder.rename(target)
    write_report(outputs, "sweep")
    return outputs


def test_backbones_figure_has_four_bars_a_model_and_the_paper_s_diamonds(backbones_run):
    script = load("backbones/make_figure")
    table = read_table(backbones_run)
    figure = script.draw(table, numbers_of("backbones"))
    [axes] = figure.axes
    assert len(axes.patches) == 8
    heights = sorted(round(bar.get_height(), 6) for bar in axes.patches)
    drawn = table[table["metric"].isin(["mean_at_k", "majority_at_k"])]
    assert heights == sorted(round(100 * value, 6) for value in drawn["value"])
    diamonds = [y for line in axes.lines if line.get_marker() == "D" for y in line.get_ydata()]
    assert sorted(diamonds) == pytest.approx(sorted([11, 33.3, 30.4, 40, 2, 3.3, 16.7, 16.7]))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["qwen7b", "llama8b"], "the paper's order"
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "the paper's bars"


def test_a_run_of_which_no_cell_is_measured_has_no_figure(backbones_run):
    nothing = read_table(backbones_run).iloc[:0]
    with pytest.raises(RecordsError, match="no measured cell"):
        load("backbones/make_figure").draw(nothing, numbers_of("backbones"))


def test_a_bar_that_was_not_run_is_named_and_others_are_not(backbones_run):
    table = read_table(backbones_run)
    part = table[(table["backbone"] != "llama8b") | (table["method"] != "me_icpo")]
    script, paper = load("backbones/make_figure"), numbers_of("backbones")
    for rows, num_bars, num_named in ((table, 8, 0), (part, 6, 2)):
        [axes] = script.draw(rows, paper).axes
        named = [text.get_position()[0] for text in axes.texts if text.get_text() == "not run"]
        assert (len(axes.patches), len(named)) == (num_bars, num_named)
    assert all(1 < place < 1.5 for place in named), "right of the base's bars of the second model"


def test_sensitivity_figure_cuts_the_sweep_at_one_n_and_one_k(sweep_outputs):
    table = read_table(sweep_outputs / "sweep")
    figure = load("nk_sweep/make_figure").draw(table, 3, 4)
    left, right = figure.axes
    assert [text.get_text() for text in left.get_xticklabels()] == ["2", "4", "8"]
    assert [text.get_text() for text in right.get_xticklabels()] == ["1", "2", "3"]
    assert (left.get_xlabel(), right.get_xlabel()) == ("candidates k (n = 3)", "rounds n (k = 4)")
    curves = {curve.get_label(): curve.lines[0] for curve in left.containers}
    mean = table.query("metric == 'mean_at_k' and num_rounds == 3").sort_values("num_candidates")
    assert list(curves["Mean@8"].get_ydata()) == pytest.approx([100 * value for value in mean["value"]])


def test_a_sweep_without_the_paper_s_n_and_k_is_cut_at_its_largest(sweep_outputs):
    figure = load("nk_sweep/make_figure").draw(read_table(sweep_outputs / "sweep"), 5, 16)
    assert [axes.get_xlabel() for axes in figure.axes] == ["candidates k (n = 3)", "rounds n (k = 8)"]


def test_costs_are_prefix_sums_and_the_fit_finds_what_they_were_made_of(sweep_outputs):
    script = load("nk_sweep/make_table")
    costs = script.measured_costs(sweep_outputs, "sweep")
    assert len(costs) == 9
    expected = 100 * costs["num_rounds"] * costs["num_candidates"]
    assert list(costs["tokens_per_question"]) == pytest.approx(list(expected))
    assert list(costs["seconds_per_question"]) == pytest.approx(list(expected / 100))
    assert set(costs["lookahead_tokens"]) == {10.0}
    section = script.fit_section("ours", costs, "tokens_per_question")
    assert "| k n | 100 | 100% |" in section and "p = 1.00 at k = 4" in section
    assert "Not to be told apart in this sweep: k m l n." in section
    prompts = script.fit_section("ours", costs, "prompt_tokens_per_question")
    assert "| k n^2 | 7 | 100% |" in prompts and "p = 2.00 at k = 8" in prompts


def test_tokens_are_a_line_in_k_n_and_the_worst_cell_is_named():
    script = load("nk_sweep/make_table")
    costs = pd.DataFrame({"num_rounds": [0, 1, 2, 4], "num_candidates": [2, 2, 4, 4]})
    costs["tokens_per_question"] = 50 + 100 * costs["num_rounds"] * costs["num_candidates"]
    assert "\n50 + 100 k n by relative least squares, at most 0.0% off in any of 3 " in script.line_section(
        costs
    )
    costs.loc[3, "tokens_per_question"] *= 1.5
    assert "at most 0.0%" not in script.line_section(costs)
    assert script.line_section(costs[:2]) == "", "one point is no line"


def test_costs_of_several_sweeps_in_one_run_are_refused(tmp_path):
    for backbone in ("qwen7b", "llama8b"):
        me_icpo("aime2024", backbone=backbone).write(tmp_path, "sweep")
    with pytest.raises(RecordsError, match=r"llama8b.*qwen7b.*run_name"):
        load("nk_sweep/make_table").measured_costs(tmp_path, "sweep")


def test_cost_table_stands_beside_the_paper_s(sweep_outputs, monkeypatch, capsys):
    script = load("nk_sweep/make_table")
    monkeypatch.setattr("sys.argv", ["make_table.py", "sweep", "--outputs", str(sweep_outputs)])
    script.main()
    text = (sweep_outputs / "sweep/report/nk_costs.md").read_text()
    assert text == capsys.readouterr().out
    table = read_table(sweep_outputs / "sweep").query("metric == 'mean_at_k' and num_rounds == 3")
    mean = {row.num_candidates: 100 * row.value for row in table.itertuples()}
    assert f"| 8 | {mean[8] - mean[2]:+.1f} [" in text and mean[8] > mean[2]
    assert "| 1, 4 | 4.0 | 197.5 | 0.40 | 99.59 | 81.50 |" in text
    assert "p = 0.73 at k = 4" in text and "n* of time" in text
