"""What nano's figure draws by round is what the cells measured, at round 0 too."""

from dataclasses import replace

import pytest

from icpo.metrics import GradedFinals, GradedRound, QuestionScore
from icpo.store import read_metrics
from icpo.types import Lookahead
from tests.end_to_end.fakes import questions_file, run
from tests.experiments.scripts import load
from tests.metrics.values import result, round_, votes_of
from tests.report.stored_runs import tally

FINALS_AFTER_EACH = ("budget.num_rounds=2", "method.finals_after=[0,1,2]")


@pytest.fixture(scope="module")
def script():
    return load("nano/make_figures")


def curves_of(script, tmp_path, *overrides):
    """The curves of one cell by panel, each from 0 rounds on, and its metrics."""
    cell, _ = run(tmp_path / "run", questions_file(tmp_path), *overrides)
    table = script.read_curves(tmp_path, "run")
    return {name: part["value"].tolist() for name, part in table.groupby("panel")}, read_metrics(cell)


def test_finals_after_each_round_are_drawn_where_they_are_stored(script, tmp_path):
    curves, stored = curves_of(script, tmp_path, *FINALS_AFTER_EACH)
    assert curves["mean"] == pytest.approx(
        [stored["by_num_rounds"][str(t)]["mean_at_k"]["value"] for t in (0, 1, 2)]
    )
    assert curves["copied"][2] == pytest.approx(stored["copy_rate"])
    kept = [one["kept_entropy_bits"] for one in stored["by_round"]]
    assert curves["entropy_bits"][1:] == pytest.approx(kept)


def test_without_them_the_candidates_of_the_next_round_serve(script, tmp_path):
    curves, stored = curves_of(script, tmp_path, "budget.num_rounds=2")
    shares = [one["mean_at_k"] for one in stored["by_round"]]
    assert curves["mean"] == pytest.approx([*shares, stored["mean_at_k"]["value"]])
    assert len(curves["copied"]) == len(curves["entropy_bits"]) == 3


def test_before_any_round_it_is_said_how_often_answers_agree_anyway(script, tmp_path):
    answers = ("7", "12", "12", "9")
    first = replace(
        round_(answers, [0, 1, 1, 0], kept=[1]),
        votes=tally(answers),
        lookaheads=(Lookahead(1, votes_of(0.5)), Lookahead(2, votes_of(2.0))),
    )
    score = QuestionScore(
        "q", 0, "12", ((1, GradedFinals(("correct", "wrong"), ("12", "7"))),),
        (GradedRound((False, True, True, None)),),
    )  # fmt: skip
    assert script.measured(result("q", 0, first), score, 0, tally) == {
        "mean": 0.5,
        "copied": 0.5,
        "entropy_bits": 1.5,
    }
    assert script.measured(result("q", 0, first), score, 1, tally) == {
        "mean": 0.5,
        "copied": 0.5,
        "entropy_bits": 0.5,
    }


def test_a_panel_a_measure_a_curve_a_level(script, tmp_path):
    questions = questions_file(tmp_path)
    for level in ("arith_l3", "arith_l4"):
        run(tmp_path / "run", questions, *FINALS_AFTER_EACH, f"benchmark.name={level}")
    figure = script.draw(script.read_curves(tmp_path, "run"))
    assert [axes.get_title() for axes in figure.axes] == list(script.PANELS.values())
    for axes in figure.axes:
        assert [curve.get_label() for curve in axes.containers] == ["l3", "l4"]
        assert [round(x) for x in axes.containers[0].lines[0].get_xdata()] == [0, 1, 2]
    hollow = [[line for line in axes.lines if line.get_markerfacecolor() == "white"] for axes in figure.axes]
    assert [len(found) for found in hollow] == [0, 2, 2]


def test_each_of_several_arms_has_a_picture_of_its_own(script, tmp_path, monkeypatch, capsys):
    for selector in ("entropy", "random"):
        run(tmp_path / "run", questions_file(tmp_path), f"selector={selector}", f"arm={selector}")
    monkeypatch.setattr("sys.argv", ["make_figures.py", "run", "--outputs", str(tmp_path)])
    script.main()
    pictures = sorted(path.stem for path in (tmp_path / "run/report").glob("*.png"))
    assert pictures == [f"rounds-nano-me_icpo-majority-{s}-n2-k3-m3" for s in ("entropy", "random")]


def test_a_run_without_me_icpo_says_what_to_run(script, tmp_path, monkeypatch):
    run(tmp_path / "run", questions_file(tmp_path), "method=direct")
    monkeypatch.setattr("sys.argv", ["make_figures.py", "run", "--outputs", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"\+exp=quickstart"):
        script.main()
