"""What each method reaches and what it costs: python experiments/baselines/make_table.py [RUN_NAME ...].

Writes RUN/report/costs.csv and costs.md of the first run named, with the cells of all runs named.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from icpo.records import read_metrics, run_cells
from icpo.reporting.markdown import table as markdown_table

PAPER = Path(__file__).parents[1] / "paper_numbers/reference_numbers.json"
PAPER_BACKBONE = "qwen7b"
MATH_LEVELS = [f"math_l{level}" for level in range(1, 6)]
SHARED_SEARCH = ("direct", "me_icpo", "ttrl")  # their k answers come from one search; those of others from k
SHOWN = {
    "label": "method",
    "mean": "Mean@k (%)",
    "accuracy": "Accuracy (%)",
    "k": "k",
    "seconds_per_question": "s/question",
    "tokens_per_question": "tokens/question, k answers",
    "tokens_per_answer": "tokens, one answer",
    "ours": "ME-ICPO at no more tokens (%)",
}
PAPER_SHOWN = {
    "paper_mean": "paper Mean@16",
    "paper_accuracy": "paper Accuracy",
    "paper_seconds": "paper s/question",
}


def main() -> None:
    """Command line: [RUN_NAME ...] [--outputs FOLDER]."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run_names", nargs="*", default=["baselines", "ttrl"])
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    args = parser.parse_args()
    cells = [cell for name in args.run_names for cell in run_cells(args.outputs, name)]
    costs = read_costs(cells)
    if costs.empty:
        raise SystemExit(
            f"No measured cell under {args.outputs} in {', '.join(args.run_names)}. "
            "Run python -m icpo.run +exp=baselines first."
        )
    report = args.outputs / args.run_names[0] / "report"
    report.mkdir(parents=True, exist_ok=True)
    costs.to_csv(report / "costs.csv", index=False, lineterminator="\n")
    text = "\n".join(sections(costs))
    (report / "costs.md").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{text}\n{report / 'costs.csv'}\n{report / 'costs.md'}\n")


def read_costs(cells: Sequence[Path]) -> pd.DataFrame:
    """One row a measured cell, cheapest first; accuracies and intervals as fractions, tokens as generated."""
    measured = [metrics for cell in cells if "mean_at_k" in (metrics := read_metrics(cell) or {})]
    rows = [cost_row(metrics) for metrics in measured]
    rows += math_average(rows)
    costs = pd.DataFrame(rows)
    return costs if costs.empty else costs.sort_values(["benchmark", "tokens_per_answer"], kind="stable")


def cost_row(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What one cell's metrics.json says of its gain and cost, per question and seed."""
    num = metrics["num_questions"] * len(metrics["seeds"])
    generated, k = metrics["generated_tokens"], metrics["k"]
    finals = metrics["generated_by_purpose"].get("final", 0)
    shared = generated - finals if metrics["method"] in SHARED_SEARCH else 0
    return {
        "backbone": metrics["backbone"],
        "benchmark": metrics["benchmark"],
        "method": metrics["method"],
        "label": metrics["label"],
        "k": k,
        **{
            name: metrics["mean_at_k"][key]
            for name, key in (("mean", "value"), ("low", "low"), ("high", "high"))
        },
        "accuracy": metrics["accuracy"]["value"],
        "accuracy_low": metrics["accuracy"]["low"],
        "accuracy_high": metrics["accuracy"]["high"],
        "seconds_per_question": metrics["wall_seconds"] / num,
        "tokens_per_question": generated / num,
        "tokens_per_answer": (shared + (generated - shared) / k) / num,
        "prompt_tokens_per_question": metrics["prompt_tokens"] / num,
        "num_questions": metrics["num_questions"],
        "num_seeds": len(metrics["seeds"]),
    }


def math_average(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The paper's MATH (Avg): the mean of the five levels, for arms that have all five; no interval."""
    found: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["backbone"], row["label"]), {})[row["benchmark"]] = row
    averages = []
    for levels in found.values():
        if all(level in levels for level in MATH_LEVELS):
            own = [levels[level] for level in MATH_LEVELS]
            numbers = [name for name, value in own[0].items() if isinstance(value, int | float)]
            mean = {name: sum(row[name] for row in own) / len(own) for name in numbers}
            bounds = dict.fromkeys(("low", "high", "accuracy_low", "accuracy_high"))
            averages.append({**own[0], **mean, **bounds, "benchmark": "math_avg"})
    return averages


def sections(costs: pd.DataFrame) -> Iterator[str]:
    """One Markdown table a backbone and benchmark."""
    paper = json.loads(PAPER.read_text(encoding="utf-8"))
    for (backbone, benchmark), part in costs.groupby(["backbone", "benchmark"], sort=True):
        rows = part.to_dict("records")
        columns = SHOWN | (PAPER_SHOWN if backbone == PAPER_BACKBONE else {})
        shown = [_shown(row, rows) | _paper(row, paper) for row in rows]
        yield f"### {backbone}, {benchmark}\n"
        yield (markdown_table(list(columns.values()), [[row[n] for n in columns] for row in shown]) + "\n")


def _shown(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {
        "label": row["label"],
        "mean": _percent(row["mean"], row["low"], row["high"]),
        "accuracy": _percent(row["accuracy"], row["accuracy_low"], row["accuracy_high"]),
        "k": str(round(row["k"])),
        "seconds_per_question": f"{row['seconds_per_question']:.2f}",
        "tokens_per_question": f"{row['tokens_per_question']:,.0f}",
        "tokens_per_answer": f"{row['tokens_per_answer']:,.0f}",
        "ours": _ours(row, rows),
    }


def _ours(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Mean of the most expensive ME-ICPO arm that takes no more tokens for one answer than a rival."""
    if row["method"] in ("direct", "me_icpo"):
        return ""
    within = [
        r for r in rows if r["method"] == "me_icpo" and r["tokens_per_answer"] <= row["tokens_per_answer"]
    ]
    if not within:
        return "dearer"
    best = max(within, key=lambda r: r["tokens_per_answer"])
    return f"{100 * best['mean']:.1f} ({best['tokens_per_answer']:,.0f} tokens)"


def _paper(row: Mapping[str, Any], paper: Mapping[str, Any]) -> dict[str, str]:
    mean = paper["table_cost_mean_qwen2.5-math-7b"].get(row["method"], {})
    accuracy = paper["table_cost_accuracy_qwen2.5-math-7b"].get(row["method"], {})
    seconds = mean.get("seconds_per_question", "") if row["benchmark"] == "aime2024" else ""
    return {
        "paper_mean": str(mean.get(row["benchmark"], "")),
        "paper_accuracy": str(accuracy.get(row["benchmark"], "")),
        "paper_seconds": str(seconds),
    }


def _percent(value: float, low: float, high: float) -> str:
    if pd.isna(low):
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


if __name__ == "__main__":
    main()
