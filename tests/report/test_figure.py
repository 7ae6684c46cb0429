"""The figure of scores: what is drawn is what is stored, and many arms stay readable."""

from itertools import pairwise

import pandas as pd

from icpo.report.figure import bars, dots, write_scores

COMMON = {"protocol": "quick", "k": 16, "metric": "mean_at_k", "low": 0.0, "high": 1.0}
FLAGS = {"is_difference": False, "is_pool": False}


def frame(*labels, benchmarks=("amc", "aime2024"), backbone="nano"):
    rows = [
        COMMON | FLAGS | {"backbone": backbone, "line": label, "title": label, "benchmark": b}
        | {"value": 0.1 * (i % 9 + 1), "is_base": label == "base", "std_over_seeds": None}
        for i, label in enumerate(labels)
        for b in benchmarks
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_bars_have_the_height_and_the_number_of_their_scores():
    [axes] = bars(frame("base", "w/ ME-ICPO")).axes
    assert sorted(round(bar.get_height()) for bar in axes.patches) == [10, 10, 20, 20]
    assert sorted(text.get_text() for text in axes.texts) == ["10.0", "10.0", "20.0", "20.0"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["aime2024", "amc"]
    assert axes.get_ylabel() == "Mean@16 (%)"


def test_many_arms_are_dots_a_panel_a_benchmark_with_the_base_dashed():
    labels = ["base", *(f"arm {i}" for i in range(8))]
    figure = dots(frame(*labels))
    first, second = figure.axes
    assert [tick.get_text() for tick in first.get_yticklabels()] == labels
    assert not any(tick.get_text() for tick in second.get_yticklabels())
    assert [text.get_text() for text in second.texts] == [f"{10 * i:.1f}" for i in range(1, 10)]
    assert first.get_xlabel() == "Mean@16 (%); dashed: base"
    [dashed] = [line for line in first.lines if line.get_linestyle() == "--"]
    assert list(dashed.get_xdata()) == [10, 10]


def test_without_a_base_nothing_is_dashed():
    [first, _] = dots(frame("ME-ICPO, n=1", "ME-ICPO, n=2")).axes
    assert not [line for line in first.lines if line.get_linestyle() == "--"]
    assert first.get_xlabel() == "Mean@16 (%)"


def test_labels_lie_within_the_picture():
    figure = dots(frame(*(f"ME-ICPO, a rather long name, n={i}, k=16" for i in range(20))))
    figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in figure.axes[0].get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes)), "labels overlap"


def test_sections_of_different_width_leave_no_empty_axes(tmp_path):
    narrow = frame("base", *"abcd", benchmarks=("amc",), backbone="other")
    both = pd.concat([frame("base", *"abcd"), narrow], ignore_index=True)
    shown = [axes.axison for axes in dots(both).axes]
    assert shown == [True, True, True, False]
    assert [path.name for path in write_scores(both, tmp_path)] == ["scores.png", "scores.pdf"]


def test_a_run_without_scores_has_no_figure_and_pools_are_not_drawn(tmp_path):
    assert write_scores(frame("base").iloc[:0], tmp_path) == ()
    pooled = frame("base").assign(is_pool=True)
    assert write_scores(pooled, tmp_path) == ()
