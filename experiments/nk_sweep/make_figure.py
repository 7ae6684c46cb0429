"""Sensitivity to k at n = 5 and to n at k = 16, as in the paper's figure of hyperparameters.

python experiments/nk_sweep/make_figure.py [RUN_NAME] [--outputs FOLDER] [--rounds N] [--candidates K]
"""

import argparse
import sys
from pathlib import Path

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from icpo.reporting.expected import read_table

CURVES = (
    ("majority_at_k", "Maj@{k}", "#d9702b", "s"),
    ("mean_at_k", "Mean@{k}", "#2b6cb0", "o"),
    ("accuracy", "Accuracy", "#55a868", "^"),
)


def main() -> None:
    """Writes RUN/report/sensitivity.png and .pdf."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run_name", nargs="?", default="nk_sweep")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    parser.add_argument("--rounds", type=int, default=5, help="n of the left panel")
    parser.add_argument("--candidates", type=int, default=16, help="k of the right panel")
    args = parser.parse_args()
    run = args.outputs / args.run_name
    figure = draw(read_table(run), args.rounds, args.candidates)
    for path in (run / "report" / "sensitivity.png", run / "report" / "sensitivity.pdf"):
        figure.savefig(path, dpi=160)
        sys.stdout.write(f"{path}\n")


def draw(table: pd.DataFrame, num_rounds: int, num_candidates: int) -> Figure:
    """Two panels; shaded are 95% intervals."""
    rows = table[table["method"] == "me_icpo"].astype({"num_rounds": int, "num_candidates": int})
    at_n = rows[rows["num_rounds"] == num_rounds]
    at_k = rows[rows["num_candidates"] == num_candidates]
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, part, along, title in (
        (left, at_n, "num_candidates", f"candidates k (n = {num_rounds})"),
        (right, at_k, "num_rounds", f"rounds n (k = {num_candidates})"),
    ):
        for metric, label, colour, marker in CURVES:
            curve = part[part["metric"] == metric].sort_values(along)
            if not curve.empty:
                name = label.format(k=curve["k"].iloc[0])
                axes.plot(curve[along], 100 * curve["value"], marker=marker, color=colour, label=name)
                axes.fill_between(
                    curve[along], 100 * curve["low"], 100 * curve["high"], color=colour, alpha=0.15
                )
        axes.set_xlabel(title)
        axes.set_xticks(sorted(part[along].unique()), sorted(part[along].unique()))
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    left.set_xscale("log", base=2)
    left.set_xticks(sorted(at_n["num_candidates"].unique()), sorted(at_n["num_candidates"].unique()))
    left.set_ylabel("%")
    right.legend(frameon=False, fontsize=8)
    return figure


if __name__ == "__main__":
    main()
