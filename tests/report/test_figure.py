"""The figure of scores: what is drawn is what is stored, and many arms stay readable."""

from itertools import pairwise

from icpo.metrics import Estimate
from icpo.report.figure import bars, dots, write_scores
from icpo.report.sections import Line, Section


def section(*labels, benchmarks=("amc", "aime2024"), pool="math_l1-l2"):
    def scores(i):
        return {("mean_at_k", b): Estimate(0.1 * (i % 9 + 1), 0.0, 1.0, None) for b in benchmarks}

    gained = Line("difference", True, {("mean_at_k", pool): Estimate(0.1, 0.0, 0.2, None)})
    lines = [Line(label, False, scores(i)) for i, label in enumerate(labels)]
    return Section("nano", "quick", 16, (*benchmarks, pool), (*lines, gained))


def test_bars_have_the_height_and_the_number_of_their_scores():
    [axes] = bars([section("base", "w/ ME-ICPO")], "mean_at_k").axes
    assert sorted(round(bar.get_height()) for bar in axes.patches) == [10, 10, 20, 20]
    assert sorted(text.get_text() for text in axes.texts) == ["10.0", "10.0", "20.0", "20.0"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["amc", "aime2024"], "pools have no scores"
    assert axes.get_ylabel() == "Mean@16 (%)"


def test_many_arms_are_dots_a_panel_a_benchmark_with_the_base_dashed():
    labels = ["base", *(f"arm {i}" for i in range(8))]
    figure = dots([section(*labels)], "mean_at_k")
    first, second = figure.axes
    assert [tick.get_text() for tick in first.get_yticklabels()] == labels
    assert not any(tick.get_text() for tick in second.get_yticklabels())
    assert [text.get_text() for text in second.texts] == [f"{10 * i:.1f}" for i in range(1, 10)]
    assert first.get_xlabel() == "Mean@16 (%); dashed: base"
    [dashed] = [line for line in first.lines if line.get_linestyle() == "--"]
    assert list(dashed.get_xdata()) == [10, 10]


def test_without_a_base_nothing_is_dashed():
    [first, _] = dots([section("ME-ICPO, n=1", "ME-ICPO, n=2")], "mean_at_k").axes
    assert not [line for line in first.lines if line.get_linestyle() == "--"]
    assert first.get_xlabel() == "Mean@16 (%)"


def test_labels_lie_within_the_picture():
    figure = dots([section(*(f"ME-ICPO, a rather long name, n={i}, k=16" for i in range(20)))], "mean_at_k")
    figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in figure.axes[0].get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes)), "labels overlap"


def test_sections_of_different_width_leave_no_empty_axes(tmp_path):
    wide, narrow = section("base", *"abcd"), section("base", *"abcd", benchmarks=("amc",))
    shown = [axes.axison for axes in dots([wide, narrow], "mean_at_k").axes]
    assert shown == [True, True, True, False]
    assert [path.name for path in write_scores([wide, narrow], tmp_path)] == ["scores.png", "scores.pdf"]
