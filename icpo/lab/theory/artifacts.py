"""Curves and figures of the theory experiments: CSV, PNG, PDF."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor

Column = Sequence[float] | Sequence[str] | Tensor

# Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#666666"

_STYLE = {
    "font.family": "serif",
    "font.size": 9,
    "mathtext.fontset": "cm",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "figure.dpi": 160,
}


def write_curve(path: Path, columns: Mapping[str, Column]) -> None:
    """Columns of equal length as CSV; numbers keep every digit."""
    values = [column.tolist() if isinstance(column, Tensor) else list(column) for column in columns.values()]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*values, strict=True))


@contextmanager
def figure(
    cell: Path, name: str, num_columns: int = 1, num_rows: int = 1, width: float = 3.6, height: float = 2.5
) -> Iterator[list[Any]]:
    """Panels in the paper's style, saved as PNG and PDF."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    with matplotlib.rc_context(_STYLE):
        drawing = Figure(figsize=(width * num_columns, height * num_rows), layout="constrained")
        panels = list(drawing.subplots(num_rows, num_columns, squeeze=False).flat)
        yield panels
        for axes in panels:  # A log axis of less than a decade would print its minor ticks over one another.
            axes.xaxis.set_minor_formatter(NullFormatter())
        for suffix in ("png", "pdf"):
            drawing.savefig(cell / f"{name}.{suffix}")


def plot_band(axes: Any, x: Tensor, values_BX: Tensor, color: str, label: str) -> None:
    """Mean over tasks with a band of one standard deviation.

    The band's lower edge stops at a tenth of the mean, so that a logarithmic axis can show it.
    """
    mean, deviation = values_BX.mean(0), values_BX.std(0)
    lower = (mean - deviation).maximum(mean / 10)
    axes.plot(x, mean, color=color, label=label)
    axes.fill_between(x, lower, mean + deviation, color=color, alpha=0.18, linewidth=0)
