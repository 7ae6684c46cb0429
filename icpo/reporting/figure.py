"""The bar figure: each benchmark's bars side by side, one panel per backbone and protocol."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icpo.reporting.sections import Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#9aa5b1", "#2b6cb0", "#dd8452", "#55a868", "#8172b3", "#937860", "#da8bc3", "#8c8c8c")


def write_bars(sections: Sequence[Section], folder: Path, metric: str = "mean_at_k") -> tuple[Path, ...]:
    """Writes bars.png and bars.pdf; error bars are 95% intervals. Nothing is written without sections."""
    if not sections:
        return ()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    labels = dict.fromkeys(line.label for s in sections for line in s.lines if not line.is_difference)
    colours = {label: COLOURS[i % len(COLOURS)] for i, label in enumerate(labels)}
    widest = max(len(s.benchmarks) for s in sections)
    figure = Figure(figsize=(max(4.5, 1.5 + 1.2 * widest), 0.6 + 2.7 * len(sections)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, section in zip(figure.subplots(len(sections), squeeze=False)[:, 0], sections, strict=True):
        _draw(axes, section, metric, colours)
    handles = [Patch(color=colour, label=label) for label, colour in colours.items()]
    figure.legend(
        handles=handles, loc="outside lower center", frameon=False, fontsize=8, ncols=min(2, len(handles))
    )
    undated = {".png": {"Software": None}, ".pdf": {"CreationDate": None}}  # same results, same bytes
    paths = (folder / "bars.png", folder / "bars.pdf")
    for path in paths:
        figure.savefig(path, dpi=160, metadata=undated[path.suffix])
    return paths


def _draw(axes: "Axes", section: Section, metric: str, colours: Mapping[str, str]) -> None:
    lines = [line for line in section.lines if not line.is_difference]
    benchmarks = [b for b in section.benchmarks if any((metric, b) in line.estimates for line in lines)]
    width = 0.8 / len(lines)
    for i, line in enumerate(lines):
        found = [(x, line.estimates.get((metric, b))) for x, b in enumerate(benchmarks)]
        known: list[tuple[int, Any]] = [(x, e) for x, e in found if e is not None]
        heights = [100 * e.value for _, e in known]
        errors = [[100 * (e.value - e.low) for _, e in known], [100 * (e.high - e.value) for _, e in known]]
        places = [x + (i - (len(lines) - 1) / 2) * width for x, _ in known]
        axes.bar(
            places, heights, width * 0.92, yerr=errors, color=colours[line.label],
            error_kw={"elinewidth": 0.9, "capsize": 2, "ecolor": "#333333"},
        )  # fmt: skip
        for place, height in zip(places, heights, strict=True):
            axes.text(place, 1.5, f"{height:.0f}", ha="center", va="bottom", fontsize=7, color="white")
    axes.set_xticks(range(len(benchmarks)), benchmarks)
    axes.set_ylabel(f"{section.metric_name(metric)} (%)")
    axes.set_xlim(-0.6, max(len(benchmarks), 3) - 0.4)
    axes.set_ylim(0, 100)
    axes.set_title(f"{section.backbone}, protocol {section.protocol}", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
