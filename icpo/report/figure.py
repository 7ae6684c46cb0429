"""The figure of a run's scores: panels of bars or dots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from icpo.report.colours import colours
from icpo.report.frame import benchmarks_of, lines_of, sections
from icpo.report.rows import records
from icpo.report.text import metric_name, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BARS = 3  # more arms than these, beside one another on each benchmark, cannot be read
WHISKER: Mapping[str, Any] = {"elinewidth": 0.9, "capsize": 2, "ecolor": "#333333"}
DOT, REFERENCE = "#2b6cb0", "#9aa5b1"
Row = Mapping[str, Any]


def write_scores(frame: pd.DataFrame, folder: Path, metric: str = "mean_at_k") -> tuple[Path, ...]:
    """Write scores.png and scores.pdf, if there are scores."""
    scores = frame[~frame["is_difference"] & ~frame["is_pool"] & (frame["metric"] == metric)]
    if scores.empty:
        return ()
    most = max(len(lines_of(section)) for *_, section in sections(scores))
    return save(bars(scores) if most <= MOST_BARS else dots(scores), folder, "scores")


def save(figure: "Figure", folder: Path, name: str) -> tuple[Path, ...]:
    """Writes NAME.png and NAME.pdf; the same figure gives the same bytes."""
    undated = {".png": {"Software": None}, ".pdf": {"CreationDate": None}}
    paths = (folder / f"{name}.png", folder / f"{name}.pdf")
    for path in paths:
        figure.savefig(path, dpi=160, metadata=undated[path.suffix])
    return paths


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of so many inches that draws without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def bars(scores: pd.DataFrame) -> "Figure":
    """One panel per section: benchmarks along x, their arms side by side."""
    from matplotlib.patches import Patch

    shades = colours(scores)
    parts = list(sections(scores))
    widest = max(len(benchmarks_of(section)) for *_, section in parts)
    figure = new_figure(max(4.0, 1.5 + 1.2 * widest), 0.6 + 2.7 * len(parts))
    for axes, part in zip(figure.subplots(len(parts), squeeze=False)[:, 0], parts, strict=True):
        _draw_bars(axes, *part, shades)
    handles = [
        Patch(color=colour, label=line) for line, colour in shades.items() if line in set(scores["line"])
    ]
    figure.legend(handles=handles, loc="outside lower center", frameon=False, fontsize=8, ncols=len(handles))
    return figure


def dots(scores: pd.DataFrame) -> "Figure":
    """Panels per section and benchmark: arms along y, base dashed."""
    parts = list(sections(scores))
    columns = max(len(benchmarks_of(section)) for *_, section in parts)
    heights = [0.9 + 0.22 * len(lines_of(section)) for *_, section in parts]
    figure = new_figure(2.6 + (2.2 if columns < 4 else 1.8) * columns, sum(heights))
    grid = figure.subplots(len(parts), columns, squeeze=False, height_ratios=heights)
    for row, (backbone, protocol, k, section) in zip(grid, parts, strict=True):
        benchmarks, lines = benchmarks_of(section), lines_of(section)
        base = next(iter(section.loc[section["is_base"], "line"]), None)
        note = f"; dashed: {base}" if base else ""
        for axes, benchmark in zip(row, benchmarks, strict=False):
            own = {row["line"]: row for row in records(section[section["benchmark"] == benchmark])}
            _draw_dots(axes, own, lines, base)
            axes.set_title(benchmark, fontsize=9)
            axes.set_xlabel(f"{_metric(section, k)} (%){note}", fontsize=8)
        for axes in row[1:]:
            axes.tick_params(axis="y", length=0, labelleft=False)
        row[0].set_yticks(range(len(lines)), lines, fontsize=8)
        row[0].set_ylabel(f"{backbone}, protocol {protocol}", fontsize=8)
        for axes in row[len(benchmarks) :]:
            axes.set_axis_off()
    return figure


def number_bars(axes: "Axes", places: Sequence[float], values: Sequence[float]) -> None:
    """Write the bars' values, in percent, below the axis."""
    for place, value in zip(places, values, strict=True):
        axes.text(
            place, -0.015, percent(value), ha="center", va="top", fontsize=7, color="#333333",
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.tick_params(axis="x", length=0, pad=13)


def _draw_bars(
    axes: "Axes", backbone: str, protocol: str, k: int, section: pd.DataFrame, shades: Mapping[str, str]
) -> None:
    lines, benchmarks = lines_of(section), benchmarks_of(section)
    width = 0.8 / len(lines)
    for i, line in enumerate(lines):
        own = section[section["line"] == line]
        found = {row["benchmark"]: row for row in records(own)}
        known = [
            (x + (i - (len(lines) - 1) / 2) * width, found[b]) for x, b in enumerate(benchmarks) if b in found
        ]
        axes.bar(
            [place for place, _ in known], [100 * row["value"] for _, row in known], width * 0.92,
            yerr=_spans([row for _, row in known]), color=shades[line], error_kw=dict(WHISKER),
        )  # fmt: skip
        number_bars(axes, [place for place, _ in known], [row["value"] for _, row in known])
    axes.set_xticks(range(len(benchmarks)), benchmarks)
    axes.set_ylabel(f"{_metric(section, k)} (%)")
    axes.set_xlim(-0.6, len(benchmarks) - 0.4)
    axes.set_ylim(0, 102)
    axes.set_title(f"{backbone}, protocol {protocol}", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_dots(axes: "Axes", found: Mapping[str, Row], lines: Sequence[str], base: str | None) -> None:
    known = [(y, found[line]) for y, line in enumerate(lines) if line in found]
    axes.errorbar(
        [100 * row["value"] for _, row in known], [y for y, _ in known],
        xerr=_spans([row for _, row in known]),
        fmt="o", color=DOT, markersize=4, clip_on=False, **WHISKER,
    )  # fmt: skip
    if base is not None and base in found:
        axes.axvline(100 * found[base]["value"], color=REFERENCE, linewidth=1, linestyle="--", zorder=0)
    for y, row in known:
        axes.text(
            1.05, y, percent(row["value"]), va="center", fontsize=7, color="#333333",
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.tick_params(labelsize=8)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _metric(section: pd.DataFrame, k: int) -> str:
    return metric_name(str(section["metric"].iloc[0]), k)


def _spans(rows: Sequence[Row]) -> list[list[float]]:
    """How far the intervals reach below and above, in percent."""
    return [[100 * (row[a] - row[b]) for row in rows] for a, b in (("value", "low"), ("high", "value"))]
