"""The probe's numbers, table of verdicts and figure, from the stored results of its cells.

python experiments/probe/write_results.py CELL ...    (writes experiments/probe/results)

A CELL is a cell's folder, or its metrics.json alone: then there is no figure.
"""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from icpo.benchmarks import ArithmeticSource, WordsSource
from icpo.evaluation.stored_rules import stored_rules
from icpo.grading import Grader
from icpo.lab.probe.estimands import measure
from icpo.lab.probe.shifts import Shift, shifts_of
from icpo.lab.probe.verdicts import verdicts
from icpo.lab.scripts.command_line import ends_in_a_line
from icpo.store import load_results, read_manifest

RESULTS = Path(__file__).parent / "results"
TAGS = {"1": "tag 1", "0": "tag 0", "none": "no tag"}
KINDS = {"right": "right attempt", "frequent_wrong": "most frequent wrong attempt"}
ROWS = (
    ("tag_effect_logit", "D, log-odds"),
    ("tag_effect_scored", "D, exact"),
    ("priming_logit", "priming, log-odds"),
    ("shift_right_tag1", "right, tag 1"),
    ("shift_right_tag0", "right, tag 0"),
    ("shift_right_untagged", "right, no tag"),
    ("shift_wrong_tag1", "wrong, tag 1"),
    ("shift_wrong_tag0", "wrong, tag 0"),
    ("shift_wrong_untagged", "wrong, no tag"),
    ("right_shift_wrong_0", "P(right): wrong, tag 0"),
    ("right_shift_foreign_0", "P(right): another question's, tag 0"),
    ("right_shift_foreign_1", "P(right): another question's, tag 1"),
)


@ends_in_a_line
def main() -> None:
    """Measure the given cells again, then write the table of all that are in results/."""
    RESULTS.mkdir(exist_ok=True)
    for folder in map(Path, sys.argv[1:]):
        if folder.is_file():
            take_metrics(folder)
            continue
        manifest = read_manifest(folder)
        if manifest is None:
            sys.exit(f"{folder} holds no manifest.json. Give folders of cells, such as outputs/probe/CELL.")
        config = manifest["config"]
        name = f"{config['backbone']['name']}-{config['benchmark']['name']}"
        shifts = shifts_of_cell(folder, config)
        measured = measure(shifts)
        (RESULTS / f"{name}.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
        draw(shifts, measured, RESULTS / f"{name}.png")
    stored = {path.stem: judged_anew(path) for path in sorted(RESULTS.glob("*.json"))}
    if stored:
        (RESULTS / "table.md").write_text(table(stored), encoding="utf-8")
        draw_shifts(stored, RESULTS / "shifts.png")


def take_metrics(path: Path) -> None:
    """Store what a run measured of its own answers, where only its metrics.json was kept."""
    metrics = json.loads(path.read_text(encoding="utf-8"))
    name = f"{metrics['backbone']}-{metrics['benchmark']}"
    keys = next(json.loads(known.read_text()) for known in RESULTS.glob("nano-*.json"))
    measured = {key: metrics[key] for key in metrics if key in keys}
    (RESULTS / f"{name}.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    (RESULTS / f"{name}.png").unlink(missing_ok=True)


def judged_anew(path: Path) -> dict:
    """What is stored of a model, its verdicts by the rules in force now."""
    metrics = json.loads(path.read_text(encoding="utf-8"))
    metrics["verdicts"] = verdicts(metrics)
    path.write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
    return metrics


def shifts_of_cell(folder: Path, config: dict) -> list[Shift]:
    """The shifts of a stored cell, its answers compared by the grader."""
    source = {k: v for k, v in config["benchmark"]["source"].items() if k != "_target_"}
    reader = ArithmeticSource(**source) if "problem_set" in source else WordsSource(**source)
    golds = {item.item_id: item.answer for item in reader.read(config["benchmark"]["name"]).items}
    with Grader(stored_rules(folder)) as grader:
        return shifts_of(load_results(folder), golds, grader.tally)


def table(measured: dict) -> str:
    """One row per quantity, one column per backbone; then the verdicts."""
    names = list(measured)
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for key, title in ROWS:
        lines.append(f"| {title} | {' | '.join(shown(measured[name].get(key)) for name in names)} |")
    for key, title in (("slope", "slope (sampled)"), ("slope_scored", "slope (exact)")):
        lines.append(f"| {title} | {' | '.join(shown(measured[name][key]) for name in names)} |")
    for key, title in (
        ("step_size", "step size, fit with priming"),
        ("theory_r2", "R2 of the theory's update"),
        ("theory_r2_with_priming", "R2 with priming"),
    ):
        lines.append(f"| {title} | {' | '.join(number(measured[name][key]) for name in names)} |")
    for model in next(iter(measured.values()))["models"]:
        cells = [number(measured[n]["models"].get(model, {}).get("log_likelihood")) for n in names]
        lines.append(f"| held-out log-likelihood: {model.replace('_', ' ')} | {' | '.join(cells)} |")
    for verdict in next(iter(measured.values()))["verdicts"]:
        found = [measured[name]["verdicts"].get(verdict) for name in names]
        words = ["not measured" if v is None else "holds" if v["holds"] else "fails" for v in found]
        lines.append(f"| {verdict.replace('_', ' ')} | {' | '.join(words)} |")
    return "\n".join(lines) + "\n"


def shown(estimate: dict | None) -> str:
    """A value with its interval."""
    if estimate is None:
        return "-"
    return f"{estimate['value']:+.2f} [{estimate['low']:+.2f}, {estimate['high']:+.2f}]"


def number(value: float | None) -> str:
    """A bare number."""
    return "-" if value is None else f"{value:.2f}"


def draw_shifts(measured: dict, path: Path) -> None:
    """The shift of P(attempt's answer) by tag and kind of attempt, a panel for each model."""
    figure, axes = plt.subplots(1, len(measured), figsize=(2.6 * len(measured), 3.2), sharey=True)
    for axis, (name, found) in zip(np.atleast_1d(axes), measured.items(), strict=True):
        for offset, kind, color in ((-0.12, "right", "#1f77b4"), (0.12, "wrong", "#d62728")):
            shifts = [found[f"shift_{kind}_{tag}"] for tag in ("tag1", "tag0", "untagged")]
            values = [shift["value"] for shift in shifts]
            errors = [[s["value"] - s["low"] for s in shifts], [s["high"] - s["value"] for s in shifts]]
            places = np.arange(3) + offset
            axis.errorbar(places, values, errors, fmt="o", color=color, capsize=3, label=f"{kind} attempt")
        axis.axhline(0, color="grey", lw=0.8)
        axis.set_xticks(range(3), ["tag 1", "tag 0", "no tag"])
        axis.set_title(name.replace("-", "\n"), fontsize=9)
    np.atleast_1d(axes)[0].set_ylabel("change of P(attempt's answer)")
    np.atleast_1d(axes)[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw(shifts: list[Shift], measured: dict, path: Path) -> None:
    """Probability under a tag against that of the base, with the fitted update's curve."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), sharex=True, sharey=True)
    one, zero, priming = measured["models"]["priming_and_mirror_descent"]["parameters"]
    steps = {"1": one, "0": -zero, "none": 0.0}
    p0 = np.linspace(0.005, 0.995, 200)
    for axis, (tag, title) in zip(axes, TAGS.items(), strict=True):
        for kind, label in KINDS.items():
            dots = [s for s in shifts if s.condition == f"{kind}/working/{tag}" and s.count.parsed]
            axis.plot(
                [s.base.share for s in dots], [s.count.share for s in dots], ".", ms=4, alpha=0.5, label=label
            )
        axis.plot(p0, expit(np.log(p0 / (1 - p0)) + priming + steps[tag]), "k-", label="fitted update")
        axis.plot([0, 1], [0, 1], "k:", lw=0.8, label="no effect")
        axis.set(title=title, xlabel="P(attempt's answer) without attempts")
    axes[0].set_ylabel("P with the attempt in the prompt")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
