"""Sensitivity to k at n = 5 and to n at k = 16, as in the paper's figure of hyperparameters.

python experiments/nk_sweep/make_figure.py [RUN_NAME] [--outputs FOLDER] [--rounds N] [--candidates K]

Where the run has no such n or k, its largest takes its place.
"""

import sys

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.report.figure import new_figure, save
from icpo.report.frame import run_frame

CURVES = (
    ("majority_at_k", "Maj@{k}", "#d9702b", "s"),
    ("mean_at_k", "Mean@{k}", "#2b6cb0", "o"),
    ("accuracy", "Accuracy", "#55a868", "^"),
)


@ends_in_a_line
def main() -> None:
    """Writes RUN/report/sensitivity.png and .pdf, or one BACKBONE_BENCHMARK.sensitivity each if several."""
    parser = run_parser(__doc__, "nk_sweep")
    parser.add_argument("--rounds", type=int, default=5, help="n of the left panel")
    parser.add_argument("--candidates", type=int, default=16, help="k of the right panel")
    args = parser.parse_args()
    run = args.outputs / args.run_name
    table = run_frame(args.outputs, args.run_name)
    table = table[~table["is_difference"] & ~table["is_pool"]]
    sweeps = table[table["method"] == "me_icpo"].groupby(["backbone", "benchmark"], sort=False)
    if not sweeps.ngroups:
        raise SystemExit(
            f"{run} has no measured cell of ME-ICPO. Run python -m icpo.run +exp=nk_sweep first."
        )
    for (backbone, benchmark), rows in sweeps:
        name = "sensitivity" if sweeps.ngroups == 1 else f"{backbone}_{benchmark}.sensitivity"
        figure = draw(rows, args.rounds, args.candidates)
        figure.suptitle(f"{backbone}, {benchmark}; bars are 95% intervals over questions", fontsize=9)
        for path in save(figure, run / "report", name):
            sys.stdout.write(f"{path}\n")


def draw(table: pd.DataFrame, num_rounds: int, num_candidates: int) -> Figure:
    """Two panels of one sweep; bars are 95% intervals."""
    rows = table[table["method"] == "me_icpo"].astype({"num_rounds": int, "num_candidates": int})
    n, k = (
        _nearest(rows[name], wanted)
        for name, wanted in (("num_rounds", num_rounds), ("num_candidates", num_candidates))
    )
    figure = new_figure(8.0, 3.4)
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_curves(left, rows[rows["num_rounds"] == n], "num_candidates")
    _draw_curves(right, rows[rows["num_candidates"] == k], "num_rounds")
    left.set_xlabel(f"candidates k (n = {n})")
    right.set_xlabel(f"rounds n (k = {k})")
    left.set_ylabel("questions answered rightly (%)")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(CURVES), frameon=False, fontsize=8)
    return figure


def _nearest(ran: pd.Series, wanted: int) -> int:
    return wanted if wanted in set(ran) else int(ran.max())


def _draw_curves(axes: Axes, rows: pd.DataFrame, along: str) -> None:
    """One curve per metric over the settings that were run, evenly spaced, a little beside one another."""
    ran = sorted(rows[along].unique())
    for i, (metric, label, colour, marker) in enumerate(CURVES):
        curve = rows[rows["metric"] == metric].sort_values(along)
        places = [ran.index(value) + 0.07 * (i - 1) for value in curve[along]]
        spans = [100 * (curve["value"] - curve["low"]), 100 * (curve["high"] - curve["value"])]
        axes.errorbar(
            places, 100 * curve["value"], yerr=spans, marker=marker, color=colour, markersize=5,
            elinewidth=0.8, capsize=2, label=label.format(k=rows["k"].iloc[0]),
        )  # fmt: skip
    axes.set_xticks(range(len(ran)), ran)
    axes.set_xlim(-0.4, len(ran) - 0.6)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
