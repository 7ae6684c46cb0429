"""Accuracy against cost, a curve a method: python experiments/baselines/make_curve.py [RUN_NAME].

Reads RUN/report/costs.csv, which make_table.py writes; writes RUN/report/accuracy_against_cost.{png,pdf}.
"""

import sys
from typing import Any

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from icpo.lab.scripts.command_line import ends_in_a_line, run_parser

STYLES = {
    "me_icpo": ("ME-ICPO", "#d9702b", "o"),
    "me_icpo_racing": ("ME-ICPO, racing", "#8c3b0c", "h"),
    "self_consistency": ("self-consistency", "#2b6cb0", "s"),
    "ttrl": ("TTRL", "#b8860b", "X"),
    "mctsr": ("MCTSr", "#6b4f3a", "P"),
    "tot_majority": ("ToT (majority)", "#c44e9b", "D"),
    "tot_self_eval": ("ToT (self-evaluation)", "#8172b3", "v"),
    "best_of_n": ("best-of-n", "#55a868", "^"),
    "direct": ("base", "#555555", "*"),
}
ROWS = {
    "tokens_per_answer": "generated tokens for one answer",
    "tokens_all_answers": "generated tokens for 16 answers",
    "flops_per_answer": "FLOPs for one answer",
    "flops_all_answers": "FLOPs for 16 answers",
}
NOTE = "Points: a method at one budget. Bars: 95% intervals, over questions. Dashes: the base."


@ends_in_a_line
def main() -> None:
    """Command line: [RUN_NAME] [--outputs FOLDER]."""
    args = run_parser(__doc__, "baselines").parse_args()
    report = args.outputs / args.run_name / "report"
    if not (report / "costs.csv").is_file():
        raise SystemExit(f"No {report / 'costs.csv'}. Run python experiments/baselines/make_table.py first.")
    figure = draw(pd.read_csv(report / "costs.csv"))
    for path in (report / "accuracy_against_cost.png", report / "accuracy_against_cost.pdf"):
        figure.savefig(path, dpi=160)
        sys.stdout.write(f"{path}\n")


def draw(costs: pd.DataFrame) -> Figure:
    """A column of panels a benchmark; a row each way of counting that the table has, see ROWS."""
    rows = {name: title for name, title in ROWS.items() if costs[name].notna().any()}
    benchmarks = sorted(costs["benchmark"].unique())
    figure = Figure(figsize=(3.5 * len(benchmarks) + 1.7, 3.7 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(rows), len(benchmarks), sharex="row", sharey=True, squeeze=False)
    for row, (column, title) in zip(panels, rows.items(), strict=True):
        for axes, benchmark in zip(row, benchmarks, strict=True):
            _draw_panel(axes, costs[costs["benchmark"] == benchmark], column)
            axes.set_xlabel(title)
        row[0].set_ylabel("right answers (Mean@k), %")
    for axes, benchmark in zip(panels[0], benchmarks, strict=True):
        axes.set_title(benchmark)
    drawn = {label: handle for axes in panels.flat for handle, label in _labelled(axes)}
    names = [name for name, _, _ in STYLES.values() if name in drawn]
    figure.legend([drawn[name] for name in names], names, loc="outside right center", frameon=False)
    figure.supxlabel(NOTE, fontsize=8, color="#444444")
    return figure


def _draw_panel(axes: Any, costs: pd.DataFrame, column: str) -> None:
    for method, (name, colour, marker) in STYLES.items():
        curve = costs[costs["method"] == method].dropna(subset=column).sort_values(column)
        if curve.empty:
            continue
        values, low, high = (100 * curve[bound] for bound in ("mean", "low", "high"))
        is_ours = method == "me_icpo"
        _, _, bars = axes.errorbar(
            curve[column],
            values,
            yerr=[values - low, high - values],
            label=name,
            color=colour,
            marker=marker,
            markersize=7 if is_ours else 5,
            linewidth=2.4 if is_ours else 1.2,
            elinewidth=0.9,
            zorder=5 if method == "ttrl" else 4 if is_ours else 3,
        )
        for bar in bars:
            bar.set_alpha(0.55)
        if method == "direct":
            axes.axhline(values.mean(), color=colour, linewidth=0.9, linestyle="--", zorder=1)
    axes.set_xscale("log")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _labelled(axes: Any) -> list[tuple[Any, str]]:
    return list(zip(*axes.get_legend_handles_labels(), strict=True))


if __name__ == "__main__":
    main()
