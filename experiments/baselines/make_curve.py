"""Accuracy against generated tokens, a curve a method: python experiments/baselines/make_curve.py [RUN_NAME].

Reads RUN/report/costs.csv, which make_table.py writes; writes RUN/report/accuracy_against_tokens.{png,pdf}.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

STYLES = {
    "direct": ("base", "#555555", "*"),
    "me_icpo": ("ME-ICPO", "#d9702b", "o"),
    "self_consistency": ("self-consistency", "#2b6cb0", "s"),
    "best_of_n": ("best-of-n", "#55a868", "^"),
    "tot_self_eval": ("ToT (self-evaluation)", "#8172b3", "v"),
    "tot_majority": ("ToT (majority)", "#c44e9b", "D"),
    "mctsr": ("MCTSr", "#937860", "P"),
    "ttrl": ("TTRL", "#b8860b", "X"),
}
ALONG = {
    "answer": ("tokens_per_answer", "generated tokens for one answer"),
    "question": ("tokens_per_question", "generated tokens a question, all k answers"),
}


def main() -> None:
    """Command line: [RUN_NAME] [--outputs FOLDER] [--per answer|question]."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run_name", nargs="?", default="baselines")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    parser.add_argument("--per", choices=ALONG, default="answer", help="what the tokens are counted for")
    args = parser.parse_args()
    report = args.outputs / args.run_name / "report"
    if not (report / "costs.csv").is_file():
        raise SystemExit(f"No {report / 'costs.csv'}. Run python experiments/baselines/make_table.py first.")
    figure = draw(pd.read_csv(report / "costs.csv"), args.per)
    for path in (report / "accuracy_against_tokens.png", report / "accuracy_against_tokens.pdf"):
        figure.savefig(path, dpi=160)
        sys.stdout.write(f"{path}\n")


def draw(costs: pd.DataFrame, per: str) -> Figure:
    """One panel a benchmark; bars are 95% intervals over questions."""
    column, title = ALONG[per]
    benchmarks = sorted(costs["benchmark"].unique())
    figure = Figure(figsize=(3.4 * len(benchmarks) + 1.6, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(benchmarks), sharey=True, squeeze=False)[0]
    for axes, benchmark in zip(panels, benchmarks, strict=True):
        part = costs[costs["benchmark"] == benchmark]
        for method, (name, colour, marker) in STYLES.items():
            curve = part[part["method"] == method].sort_values(column)
            if curve.empty:
                continue
            values, low, high = (100 * curve[name] for name in ("mean", "low", "high"))
            axes.errorbar(
                curve[column],
                values,
                yerr=[values - low, high - values],
                label=name,
                color=colour,
                marker=marker,
                linewidth=2.2 if method == "me_icpo" else 1.1,
                zorder=3 if method == "me_icpo" else 2,
                capsize=2,
            )
        axes.set_xscale("log")
        axes.set_xlabel(title)
        axes.set_title(benchmark)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("right answers (Mean@k), %")
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False, fontsize=8)
    return figure


if __name__ == "__main__":
    main()
