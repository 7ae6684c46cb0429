"""The doses and recipes of nano side by side: what was trained, what the probe says, what ME-ICPO gains.

python experiments/nano/make_doses.py FOLDER [--to FOLDER]    (writes results/doses.{csv,md,png})

FOLDER holds the cells that recipes.sh makes: train, probe, ablation. Gains are differences of Mean@16 pooled
over the ablation's levels, paired by question and seed. Intervals and whiskers are 95%, over questions.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icpo.errors import RecordsError
from icpo.lab.probe.verdicts import verdicts
from icpo.lab.scripts.command_line import ends_in_a_line
from icpo.metrics import mean_at_k, paired_difference
from icpo.metrics.compare import values_of
from icpo.metrics.estimates import estimate
from icpo.report.cells import load_cells
from icpo.report.figure import new_figure
from icpo.report.text import markdown_table, whole
from icpo.store import read_metrics, run_cells

ACCEPTANCE = {
    "none": "no idea",
    "right_1/1": "right, tag 1",
    "right_0/1": "right, tag 0",
    "wrong_1/1": "wrong, tag 1",
    "wrong_0/1": "wrong, tag 0",
}
GAIN = "ME-ICPO - base"
GAINS = {GAIN: ("full", "base"), "w/o entropy - ME-ICPO": ("without_entropy", "full")}
WHOLE = "dose_1"
BESIDE = f"gain minus {WHOLE}'s"
PROBED = {
    "tag_effect_logit": "D, log-odds",
    "shift_right_tag1": "shift: right, tag 1",
    "shift_right_tag0": "right, tag 0",
    "shift_wrong_tag1": "wrong, tag 1",
    "shift_wrong_tag0": "wrong, tag 0",
}
KEPT = (*PROBED, "tag1_logit", "tag0_logit")  # doses.csv and the figure have these
FITTED = ("theory_r2", "step_size")
TAG_COLOURS = {"1": "#2b6cb0", "0": "#c05621"}
Row = dict[str, Any]


@ends_in_a_line
def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--to", type=Path, default=Path(__file__).parent / "results")
    args = parser.parse_args()
    rows = rows_of(args.folder)
    if not rows:
        raise SystemExit(
            f"No trained model under {args.folder / 'train'}; recipes.sh prints what trains them."
        )
    args.to.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(args.to / "doses.csv", index=False, lineterminator="\n")
    (args.to / "doses.md").write_text(tables(rows), encoding="utf-8")
    draw(rows).savefig(args.to / "doses.png", dpi=160, metadata={"Software": None})
    sys.stdout.write(tables(rows))


def rows_of(folder: Path) -> list[Row]:
    """A row a trained model: the doses by their number of contexts, then the other recipes by name."""
    trained = {cell.name: read_metrics(cell) for cell in run_cells(folder, "train") if cell.name != "base"}
    probed = {
        found["backbone"]: found for cell in run_cells(folder, "probe") if (found := read_metrics(cell))
    }
    gained = gains(folder)
    rows = [
        trained_row(model, metrics) | probed_row(probed.get(model, {})) | gained.get(model, {})
        for model, metrics in trained.items()
        if metrics
    ]
    return sorted(rows, key=lambda row: (not is_dose(row), row["contexts"] if is_dose(row) else row["model"]))


def is_dose(row: Mapping[str, Any]) -> bool:
    """Whether a model is the shipped recipe at some dose."""
    return str(row["model"]).startswith("dose_")


def trained_row(model: str, metrics: Mapping[str, Any]) -> Row:
    """Number of contexts, and accuracy with one idea on development questions."""
    scores = {title: metrics[f"gate/{name}"] for name, title in ACCEPTANCE.items()}
    return {"model": model, "contexts": metrics["num_tagged_examples"], **scores}


def probed_row(metrics: Mapping[str, Any]) -> Row:
    """What the probe measured; nothing where it was not run or could not measure."""
    row: Row = {}
    for name in KEPT:
        if (found := metrics.get(name)) is not None:
            row |= interval(name, found["value"], found["low"], found["high"])
    row |= {name: metrics.get(name) for name in FITTED}
    return row | {f"verdict: {name}": found["holds"] for name, found in verdicts(metrics).items() if found}


def gains(folder: Path) -> dict[str, Row]:
    """By model, what one arm gains over another."""
    values: dict[tuple[str, str], dict[Any, float]] = defaultdict(dict)
    for cell in load_cells(folder, "ablation"):
        if cell.state == "unreadable":
            raise RecordsError(cell.reason)
        if cell.arms:
            arm = cell.last
            values[arm.key.backbone, arm.key.arm] |= values_of(arm.scores, mean_at_k, arm.key.benchmark)
    rows: dict[str, Row] = defaultdict(dict)
    gained: dict[str, dict[Any, float]] = {}
    for model in {model for model, _ in values}:
        for name, (arm, reference) in GAINS.items():
            ours, others = values[model, arm], values[model, reference]
            if pairs := ours.keys() & others.keys():
                gain = paired_difference(ours, others)
                rows[model] |= interval(name, gain.value, gain.low, gain.high)
                rows[model][f"{name} pairs"] = len(pairs)
        ours, others = (values[model, arm] for arm in GAINS[GAIN])
        gained[model] = {key: ours[key] - others[key] for key in ours.keys() & others.keys()}
    whole = gained.pop(WHOLE, {})
    for model, own in gained.items():
        if pairs := own.keys() & whole.keys():
            found = estimate({key: own[key] - whole[key] for key in pairs}, (-2.0, 2.0))
            rows[model] |= interval(BESIDE, found.value, found.low, found.high)
    return rows


def interval(name: str, value: float, low: float, high: float) -> Row:
    """Value and bounds as columns."""
    return {name: value, f"{name} low": low, f"{name} high": high}


def tables(rows: Sequence[Row]) -> str:
    """Accuracy with one idea; what the probe says and ME-ICPO gains; the probe's verdicts. A line a model."""
    accepted = [["model", "contexts", *ACCEPTANCE.values()]]
    accepted += [[*head(row), *(f"{100 * row[title]:.1f}" for title in ACCEPTANCE.values())] for row in rows]
    probed = [["model", "contexts", *PROBED.values(), "R2", *GAINS, BESIDE]]
    probed += [
        [*head(row), *(shown(row, name) for name in PROBED), number(row.get("theory_r2"))]
        + [shown(row, name, scale=100, digits=1) for name in (*GAINS, BESIDE)]
        for row in rows
    ]
    names = list(dict.fromkeys(name for row in rows for name in row if name.startswith("verdict: ")))
    judged = [["model", *(name.removeprefix("verdict: ").replace("_", " ") for name in names)]]
    judged += [[row["model"], *(WORDS[row.get(name)] for name in names)] for row in rows]
    return "\n\n".join(markdown_table(table[0], table[1:]) for table in (accepted, probed, judged)) + "\n"


WORDS = {True: "holds", False: "fails", None: ""}


def head(row: Mapping[str, Any]) -> list[str]:
    """The columns that every table begins with."""
    return [row["model"], whole(row["contexts"])]


def shown(row: Mapping[str, Any], name: str, scale: float = 1, digits: int = 2) -> str:
    """A value with its interval; empty where there is none."""
    if name not in row:
        return ""
    value, low, high = (f"{scale * row[f'{name}{end}']:+.{digits}f}" for end in ("", " low", " high"))
    return f"{value} [{low}, {high}]"


def number(value: float | None) -> str:
    """A bare number; empty for None."""
    return "" if value is None else f"{value:.2f}"


def draw(rows: Sequence[Row]) -> Figure:
    """The doses alone, against their number of contexts: shifts, odds, share explained, gains."""
    doses = [row for row in rows if is_dose(row)]
    figure = new_figure(12, 3.4)
    shifts, odds, explained, gained = figure.subplots(1, 4)
    for tag, colour in TAG_COLOURS.items():
        for kind, style in (("right", "-"), ("wrong", "--")):
            label = f"{kind} idea, tag {tag}"
            curve(shifts, doses, f"shift_{kind}_tag{tag}", label=label, color=colour, linestyle=style)
        curve(odds, doses, f"tag{tag}_logit", label=f"tag {tag}", color=colour)
    curve(odds, doses, "tag_effect_logit", label="D", color="#222222")
    curve(explained, doses, "theory_r2", color="#222222")
    for name, colour in zip(GAINS, ("#2f855a", "#805ad5"), strict=True):
        curve(gained, doses, name, scale=100, label=name, color=colour)
    titles = {
        shifts: "change of P(idea's answer)",
        odds: "change of its log-odds",
        explained: "R2 of the theory's update",
        gained: "points of Mean@16",
    }
    smallest = min((row["contexts"] for row in doses if row["contexts"]), default=1)
    for axes, title in titles.items():
        axes.set_title(title, fontsize=9)
        axes.set_xscale("symlog", linthresh=smallest, linscale=0.5)
        axes.set_xlabel("contexts with tagged ideas", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.axhline(0, color="#999999", linewidth=0.8)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7, frameon=False)
    return figure


def curve(axes: Axes, rows: Sequence[Row], name: str, scale: float = 1, **style: Any) -> None:
    """A quantity of the models that have it, with whiskers where it has an interval."""
    found = [row for row in rows if row.get(name) is not None]
    x, y = [row["contexts"] for row in found], [scale * row[name] for row in found]
    bounds = [(row.get(f"{name} low", row[name]), row.get(f"{name} high", row[name])) for row in found]
    below = [max(0.0, v - scale * low) for v, (low, _) in zip(y, bounds, strict=True)]
    above = [max(0.0, scale * high - v) for v, (_, high) in zip(y, bounds, strict=True)]
    axes.errorbar(x, y, yerr=[below, above], marker="o", markersize=3, linewidth=1, capsize=2, **style)


if __name__ == "__main__":
    main()
