"""Four bars a model, before and after ME-ICPO, as in the paper's figure of backbones.

python experiments/backbones/make_figure.py [RUN_NAME] [--outputs FOLDER]
"""

import sys

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icpo.errors import RecordsError
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.report.figure import WHISKER, new_figure, number_bars, save
from icpo.report.frame import run_frame
from icpo.report.paper import numbers_of

BARS = (
    ("direct", "mean_at_k", "base, Mean@{k}", "#c6d4e8"),
    ("direct", "majority_at_k", "base, Maj@{k}", "#8fb0d9"),
    ("me_icpo", "mean_at_k", "w/ ME-ICPO, Mean@{k}", "#f2b48c"),
    ("me_icpo", "majority_at_k", "w/ ME-ICPO, Maj@{k}", "#d9702b"),
)
WIDTH = 0.2


@ends_in_a_line
def main() -> None:
    """Writes RUN/report/backbones.png and .pdf."""
    args = run_parser(__doc__, "backbones").parse_args()
    run = args.outputs / args.run_name
    frame = run_frame(args.outputs, args.run_name)
    figure = draw(frame[~frame["is_difference"] & ~frame["is_pool"]], numbers_of("backbones"))
    for path in save(figure, run / "report", "backbones"):
        sys.stdout.write(f"{path}\n")


def draw(table: pd.DataFrame, paper: pd.DataFrame) -> Figure:
    """One panel per benchmark; error bars are 95% intervals, diamonds the paper's bars, gaps are named.

    Raises RecordsError for a table without rows.
    """
    if table.empty:
        raise RecordsError("The run has no measured cell. Run python -m icpo.run +exp=backbones first.")
    benchmarks = list(dict.fromkeys(table["benchmark"]))
    most = table.groupby("benchmark")["backbone"].nunique().max()
    figure = new_figure(max(5.5, 1.2 + 1.9 * most), 0.9 + 2.8 * len(benchmarks))
    panels = figure.subplots(len(benchmarks), squeeze=False)[:, 0]
    for axes, benchmark in zip(panels, benchmarks, strict=True):
        ours, theirs = (rows[rows["benchmark"] == benchmark] for rows in (table, paper))
        models = [
            m for m in dict.fromkeys([*paper["backbone"], *ours["backbone"]]) if m in set(ours["backbone"])
        ]
        for i in range(len(BARS)):
            draw_bars(axes, i, models, ours, theirs)
        axes.set_xticks(range(len(models)), models)
        axes.set_xlim(-0.6, len(models) - 0.4)
        drawn = ours[ours["metric"].isin({metric for _, metric, _, _ in BARS})]
        highest = max([*drawn["high"], *theirs["value"]])
        axes.set_ylim(0, min(102, 105 * highest + 1))
        axes.set_ylabel("questions answered rightly (%)", fontsize=9)
        axes.set_title(benchmark, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    bars, labels = panels[0].get_legend_handles_labels()
    if not paper.merge(table[["backbone", "benchmark"]]).empty:
        bars += panels[0].plot([], [], "D", color="black", markersize=4)
        labels.append("the paper's bars")
    columns = (len(bars) + 1) // 2  # base above base, ME-ICPO above ME-ICPO
    figure.legend(bars, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)
    return figure


def draw_bars(axes: Axes, i: int, models: list[str], ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """The i-th bar of every model, its value below it, and the paper's."""
    method, metric, label, colour = BARS[i]
    places = {model: x + (i - 1.5) * WIDTH for x, model in enumerate(models)}
    rows = ours[(ours["method"] == method) & (ours["metric"] == metric)]
    x = rows["backbone"].map(places)
    spans = [100 * (rows["value"] - rows["low"]), 100 * (rows["high"] - rows["value"])]
    axes.bar(
        x, 100 * rows["value"], WIDTH * 0.94, yerr=spans, color=colour, error_kw=dict(WHISKER),
        label=label.format(k=ours["k"].iloc[0]),
    )  # fmt: skip
    number_bars(axes, list(x), list(rows["value"]))
    for model in set(models) - set(rows["backbone"]):
        axes.text(places[model], 1, "not run", rotation=90, ha="center", va="bottom", fontsize=7, color="0.4")
    paper = theirs[
        (theirs["method"] == method) & (theirs["metric"] == metric) & theirs["backbone"].isin(models)
    ]
    axes.plot(paper["backbone"].map(places), 100 * paper["value"], "D", color="black", markersize=4)


if __name__ == "__main__":
    main()
