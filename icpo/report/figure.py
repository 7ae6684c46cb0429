"""The figure of a run's scores: a row of panels per backbone and protocol, bars or (many arms) dots."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icpo.metrics import Estimate
from icpo.report.sections import Line, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BARS = 3  # more arms than these, beside one another on each benchmark, cannot be read
YARDSTICKS = ("base", "ME-ICPO, full")
COLOURS = ("#9aa5b1", "#2b6cb0", "#dd8452")
WHISKER: Mapping[str, Any] = {"elinewidth": 0.9, "capsize": 2, "ecolor": "#333333"}


def write_scores(sections: Sequence[Section], folder: Path, metric: str = "mean_at_k") -> tuple[Path, ...]:
    """Writes scores.png and scores.pdf; whiskers are 95% intervals. Nothing is written without sections."""
    if not sections:
        return ()
    most = max(len(_arms(section)) for section in sections)
    figure = bars(sections, metric) if most <= MOST_BARS else dots(sections, metric)
    return save(figure, folder, "scores")


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


def bars(sections: Sequence[Section], metric: str) -> "Figure":
    """One panel per section: benchmarks along x, their arms side by side."""
    from matplotlib.patches import Patch

    labels = dict.fromkeys(line.label for section in sections for line in _arms(section))
    colours = dict(zip(labels, COLOURS, strict=False))
    widest = max(len(_benchmarks(section, metric)) for section in sections)
    figure = new_figure(max(4.0, 1.5 + 1.2 * widest), 0.6 + 2.7 * len(sections))
    for axes, section in zip(figure.subplots(len(sections), squeeze=False)[:, 0], sections, strict=True):
        _draw_bars(axes, section, metric, colours)
    handles = [Patch(color=colour, label=label) for label, colour in colours.items()]
    figure.legend(handles=handles, loc="outside lower center", frameon=False, fontsize=8, ncols=len(handles))
    return figure


def dots(sections: Sequence[Section], metric: str) -> "Figure":
    """A row of panels per section, one per benchmark: arms along y; dashed is the base or full ME-ICPO."""
    columns = max(len(_benchmarks(section, metric)) for section in sections)
    heights = [0.9 + 0.22 * len(_arms(section)) for section in sections]
    figure = new_figure(2.6 + (2.2 if columns < 4 else 1.8) * columns, sum(heights))
    grid = figure.subplots(len(sections), columns, squeeze=False, height_ratios=heights)
    for row, section in zip(grid, sections, strict=True):
        benchmarks, arms = _benchmarks(section, metric), _arms(section)
        yardstick = arms[0].label if arms[0].label in YARDSTICKS else ""
        note = f"; dashed: {yardstick}" if yardstick else ""
        for axes, benchmark in zip(row, benchmarks, strict=False):
            found = [line.estimates.get((metric, benchmark)) for line in arms]
            _draw_dots(axes, found, found[0] if yardstick else None)
            axes.set_title(benchmark, fontsize=9)
            axes.set_xlabel(f"{section.metric_name(metric)} (%){note}", fontsize=8)
        for axes in row[1:]:
            axes.tick_params(axis="y", length=0, labelleft=False)
        row[0].set_yticks(range(len(arms)), [line.label for line in arms], fontsize=8)
        row[0].set_ylabel(_title(section), fontsize=8)
        for axes in row[len(benchmarks) :]:
            axes.set_axis_off()
    return figure


def number_bars(axes: "Axes", places: Sequence[float], values: Sequence[float]) -> None:
    """Writes the bars' values, in percent, below the axis, where no whisker crosses them."""
    for place, value in zip(places, values, strict=True):
        axes.text(
            place, -0.015, f"{100 * value:.1f}", ha="center", va="top", fontsize=7, color="#333333",
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.tick_params(axis="x", length=0, pad=13)


def _draw_bars(axes: "Axes", section: Section, metric: str, colours: Mapping[str, str]) -> None:
    arms, benchmarks = _arms(section), _benchmarks(section, metric)
    width = 0.8 / len(arms)
    for i, line in enumerate(arms):
        found = [(x, line.estimates.get((metric, b))) for x, b in enumerate(benchmarks)]
        known = [(x + (i - (len(arms) - 1) / 2) * width, e) for x, e in found if e is not None]
        axes.bar(
            [place for place, _ in known], [100 * e.value for _, e in known], width * 0.92,
            yerr=_spans([e for _, e in known]), color=colours[line.label], error_kw=dict(WHISKER),
        )  # fmt: skip
        number_bars(axes, [place for place, _ in known], [e.value for _, e in known])
    axes.set_xticks(range(len(benchmarks)), benchmarks)
    axes.set_ylabel(f"{section.metric_name(metric)} (%)")
    axes.set_xlim(-0.6, len(benchmarks) - 0.4)
    axes.set_ylim(0, 102)
    axes.set_title(_title(section), fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_dots(axes: "Axes", found: Sequence[Estimate | None], yardstick: Estimate | None) -> None:
    known = [(y, e) for y, e in enumerate(found) if e is not None]
    axes.errorbar(
        [100 * e.value for _, e in known], [y for y, _ in known], xerr=_spans([e for _, e in known]),
        fmt="o", color=COLOURS[1], markersize=4, clip_on=False, **WHISKER,
    )  # fmt: skip
    if yardstick is not None:
        axes.axvline(100 * yardstick.value, color=COLOURS[0], linewidth=1, linestyle="--", zorder=0)
    for y, e in known:
        axes.text(
            1.05, y, f"{100 * e.value:.1f}", va="center", fontsize=7, color="#333333",
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.tick_params(labelsize=8)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _arms(section: Section) -> list[Line]:
    return [line for line in section.lines if not line.is_difference]


def _benchmarks(section: Section, metric: str) -> list[str]:
    """Those with a score; pools have differences alone."""
    return [b for b in section.benchmarks if any((metric, b) in line.estimates for line in _arms(section))]


def _spans(found: Sequence[Estimate]) -> list[list[float]]:
    """How far the intervals reach below and above, in percent."""
    return [[100 * (e.value - e.low) for e in found], [100 * (e.high - e.value) for e in found]]


def _title(section: Section) -> str:
    return f"{section.backbone}, protocol {section.protocol}"
