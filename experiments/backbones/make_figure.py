"""Four bars a model, before and after ME-ICPO, as in the paper's figure of backbones.

python experiments/backbones/make_figure.py [RUN_NAME] [--outputs FOLDER]
"""

import argparse
import sys
from pathlib import Path

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from icpo.reporting.expected import read_table

BARS = (
    ("direct", "mean_at_k", "base, Mean@{k}", "#c6d4e8"),
    ("direct", "majority_at_k", "base, Maj@{k}", "#8fb0d9"),
    ("me_icpo", "mean_at_k", "w/ ME-ICPO, Mean@{k}", "#f2b48c"),
    ("me_icpo", "majority_at_k", "w/ ME-ICPO, Maj@{k}", "#d9702b"),
)
WIDTH = 0.2


def main() -> None:
    """Writes RUN/report/backbones.png and .pdf."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run_name", nargs="?", default="backbones")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    args = parser.parse_args()
    run = args.outputs / args.run_name
    figure = draw(read_table(run), pd.read_csv(Path(__file__).with_name("expected.csv")))
    for path in (run / "report" / "backbones.png", run / "report" / "backbones.pdf"):
        figure.savefig(path, dpi=160)
        sys.stdout.write(f"{path}\n")


def draw(table: pd.DataFrame, paper: pd.DataFrame) -> Figure:
    """One panel per benchmark; error bars are 95% intervals, diamonds the paper's bars."""
    benchmarks = list(dict.fromkeys(table["benchmark"]))
    most = table.groupby("benchmark")["backbone"].nunique().max()
    figure = Figure(figsize=(2.0 + 2.0 * most, 0.8 + 2.8 * len(benchmarks)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, benchmark in zip(
        figure.subplots(len(benchmarks), squeeze=False)[:, 0], benchmarks, strict=True
    ):
        rows = table[table["benchmark"] == benchmark]
        models = list(dict.fromkeys(rows["backbone"]))
        for i, (method, metric, label, colour) in enumerate(BARS):
            for x, model in enumerate(models):
                place = x + (i - 1.5) * WIDTH
                name = label.format(k=rows["k"].iloc[0]) if x == 0 else None
                ours = pick(rows, model, method, metric)
                if ours is not None:
                    error = [[100 * (ours.value - ours.low)], [100 * (ours.high - ours.value)]]
                    axes.bar(
                        place, 100 * ours.value, WIDTH * 0.94, yerr=error, color=colour, label=name, capsize=2,
                        error_kw={"elinewidth": 0.9, "ecolor": "#333333"},
                    )  # fmt: skip
                    axes.text(place, 100 * ours.high + 1, f"{100 * ours.value:.1f}", ha="center", fontsize=7)
                theirs = pick(paper[paper["benchmark"] == benchmark], model, method, metric)
                if theirs is not None:
                    axes.plot(place, 100 * theirs.paper_value, "D", color="black", markersize=4)
        axes.set_xticks(range(len(models)), models)
        axes.set_xlim(-0.6, len(models) - 0.4)
        axes.set_ylim(0, 100)
        axes.set_ylabel(f"{benchmark} (%)")
        axes.spines[["top", "right"]].set_visible(False)
    axes.plot([], [], "D", color="black", markersize=4, label="the paper's bars")
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=8
    )
    return figure


def pick(rows: pd.DataFrame, model: str, method: str, metric: str) -> pd.Series | None:
    """The row of one bar, if there is one."""
    found = rows[(rows["backbone"] == model) & (rows["method"] == method) & (rows["metric"] == metric)]
    return None if found.empty else found.iloc[0]


if __name__ == "__main__":
    main()
