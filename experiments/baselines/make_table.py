"""What each method reaches and what it costs: python experiments/baselines/make_table.py [RUN_NAME ...].

Writes RUN/report/costs.csv and costs.md of the first run named, with the cells of all runs named; one of a
later run replaces one of the same name. Differences to the base are paired by question and seed.
"""

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from icpo.lab.cost_model.flops import ModelSize, sampling_flops
from icpo.lab.cost_model.sizes import cell_size
from icpo.lab.scripts.command_line import ends_in_a_line
from icpo.lab.scripts.one_cell import one_each
from icpo.metrics import compare
from icpo.report.paper import paper_numbers
from icpo.report.text import markdown_table
from icpo.store import load_scores, read_metrics, run_cells

PAPER_BACKBONE = "qwen7b"
MATH_LEVELS = [f"math_l{level}" for level in range(1, 6)]
SHARED_SEARCH = ("direct", "me_icpo", "ttrl")  # their k answers come from one search; those of others from k
NUM_ANSWERS = 16
USAGE = ("num_requests", "num_sequences", "prompt_tokens", "cached_prompt_tokens", "generated_tokens")
SHOWN = {
    "label": "method",
    "mean": "Mean@k (%)",
    "minus_base": "minus base",
    "accuracy": "Accuracy (%)",
    "k": "k",
    "num_seeds": "seeds",
    "seconds_per_question": "s/question",
    "tokens_per_answer": "tokens, one answer",
    "tokens_all_answers": f"tokens, {NUM_ANSWERS} answers",
    "prompt_per_generated": "prompt tokens per generated",
    "flops_per_answer": "GFLOPs, one answer",
    "flops_all_answers": f"GFLOPs, {NUM_ANSWERS} answers",
}
PAPER_SHOWN = {
    "paper_mean": "paper Mean@16",
    "paper_accuracy": "paper Accuracy",
    "paper_seconds": "paper s/question",
}


@ends_in_a_line
def main() -> None:
    """Command line: [RUN_NAME ...] [--outputs FOLDER] [--without-seconds]."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run_names", nargs="*", default=["baselines", "ttrl"])
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    parser.add_argument(
        "--without-seconds", action="store_true", help="of runs whose processes shared a card"
    )
    args = parser.parse_args()
    cells = [cell for name in args.run_names for cell in run_cells(args.outputs, name)]
    measured = {cell.name: cell for cell in cells if is_measured(cell)}
    costs = read_costs(list(measured.values()))
    if costs.empty:
        raise SystemExit(
            f"No measured cell under {args.outputs} in {', '.join(args.run_names)}. "
            "Run python -m icpo.run +exp=baselines first."
        )
    report = args.outputs / args.run_names[0] / "report"
    report.mkdir(parents=True, exist_ok=True)
    costs.to_csv(report / "costs.csv", index=False, lineterminator="\n")
    text = "\n".join(
        sections(costs, SHOWN.keys() - ({"seconds_per_question"} if args.without_seconds else set()))
    )
    (report / "costs.md").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{text}\n{report / 'costs.csv'}\n{report / 'costs.md'}\n")


def is_measured(cell: Path) -> bool:
    """Whether a cell has scores and metrics."""
    return "mean_at_k" in (read_metrics(cell) or {})


def read_costs(cells: Sequence[Path]) -> pd.DataFrame:
    """One row a measured cell, cheapest first; accuracies and intervals as fractions, tokens as generated.

    Raises RecordsError where two cells are one arm, or two bases one base.
    """
    measured = {cell: read_metrics(cell) or {} for cell in cells if is_measured(cell)}
    places = {cell: (metrics["backbone"], metrics["benchmark"]) for cell, metrics in measured.items()}
    one_each(((*places[cell], m.get("arm"), m["label"]), cell) for cell, m in measured.items())
    bases = one_each(
        ((*places[cell], "base"), cell) for cell, m in measured.items() if m["method"] == "direct"
    )
    rows = [
        {
            **cost_row(metrics, cell_size(cell)),
            **gained(cell, bases.get((*places[cell], "base"))),
            "cell": f"{cell.parent.name}/{cell.name}",
        }
        for cell, metrics in measured.items()
    ]
    rows += math_average(rows)
    costs = pd.DataFrame(rows)
    return costs if costs.empty else costs.sort_values(["benchmark", "tokens_per_answer"], kind="stable")


def cost_row(metrics: Mapping[str, Any], size: ModelSize | None) -> dict[str, Any]:
    """What one cell's metrics.json says of its gain and cost, per question and seed."""
    num = metrics["num_questions"] * len(metrics["seeds"])
    one, every = (usage_for(metrics, answers) for answers in (1, NUM_ANSWERS))
    is_counted = size is not None and metrics["method"] != "ttrl"  # its training is not sampling
    return {
        "backbone": metrics["backbone"],
        "benchmark": metrics["benchmark"],
        "method": "me_icpo_racing" if metrics.get("selector") == "entropy_racing" else metrics["method"],
        "label": metrics["label"],
        "k": metrics["k"],
        **{
            name: metrics["mean_at_k"][key]
            for name, key in (("mean", "value"), ("low", "low"), ("high", "high"))
        },
        "accuracy": metrics["accuracy"]["value"],
        "accuracy_low": metrics["accuracy"]["low"],
        "accuracy_high": metrics["accuracy"]["high"],
        "seconds_per_question": metrics["wall_seconds"] / num,
        "tokens_per_question": metrics["generated_tokens"] / num,
        "tokens_per_answer": one["generated_tokens"],
        "tokens_all_answers": every["generated_tokens"],
        "prompt_tokens_per_question": metrics["prompt_tokens"] / num,
        "prompt_per_generated": metrics["prompt_tokens"] / max(metrics["generated_tokens"], 1),
        "flops_per_answer": sampling_flops(size, **one) if is_counted else None,
        "flops_all_answers": sampling_flops(size, **every) if is_counted else None,
        "num_questions": metrics["num_questions"],
        "num_seeds": len(metrics["seeds"]),
    }


def usage_for(metrics: Mapping[str, Any], num_answers: int) -> dict[str, float]:
    """The usage of a question and seed, were there so many final answers instead of the cell's k.

    A search that all answers share is made once, and one request asks for all of its finals; otherwise each
    answer has a search of its own.
    """
    num, k = metrics["num_questions"] * len(metrics["seeds"]), metrics["k"]
    usage = {name: metrics.get(name, 0) / num for name in USAGE}
    if metrics["method"] not in SHARED_SEARCH:
        return {name: value / k * num_answers for name, value in usage.items()}
    finals = metrics["generated_by_purpose"].get("final", 0) / num
    searched = usage["generated_tokens"] - finals
    return usage | {
        "generated_tokens": searched + finals / k * num_answers,
        "num_sequences": usage["num_sequences"] - k + num_answers,
    }


def gained(cell: Path, base: Path | None) -> dict[str, float]:
    """What a cell's Mean@k gains over the base's, with its interval; empty for the base and without one."""
    if base is None or base == cell:
        return {}
    own, other = (load_scores(folder) for folder in (cell, base))
    gain = compare(own, other).differences["mean_at_k"]
    return {"minus_base": gain.value, "minus_base_low": gain.low, "minus_base_high": gain.high}


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
            bounds = dict.fromkeys(name for name in own[0] if name.endswith(("low", "high")))
            averages.append({**own[0], **mean, **bounds, "benchmark": "math_avg", "cell": None})
    return averages


def sections(costs: pd.DataFrame, names: Collection[str] = SHOWN.keys()) -> Iterator[str]:
    """One Markdown table a backbone and benchmark, with these columns of SHOWN."""
    paper = paper_numbers().query(f"backbone == '{PAPER_BACKBONE}' and reward in ('', 'majority')")
    for (backbone, benchmark), part in costs.groupby(["backbone", "benchmark"], sort=True):
        columns = {name: title for name, title in SHOWN.items() if name in names}
        columns |= PAPER_SHOWN if backbone == PAPER_BACKBONE else {}
        shown = [_shown(row) | _paper(row, paper) for row in part.to_dict("records")]
        yield f"### {backbone}, {benchmark}\n"
        yield (markdown_table(list(columns.values()), [[row[n] for n in columns] for row in shown]) + "\n")


def _shown(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        "label": row["label"],
        "mean": _percent(row["mean"], row["low"], row["high"]),
        "minus_base": _points(row),
        "accuracy": _percent(row["accuracy"], row["accuracy_low"], row["accuracy_high"]),
        "k": str(round(row["k"])),
        "num_seeds": str(round(row["num_seeds"])),
        "seconds_per_question": f"{row['seconds_per_question']:.2f}",
        "tokens_per_answer": f"{row['tokens_per_answer']:,.0f}",
        "tokens_all_answers": f"{row['tokens_all_answers']:,.0f}",
        "prompt_per_generated": f"{row['prompt_per_generated']:.2f}",
        **{name: _giga(row[name]) for name in ("flops_per_answer", "flops_all_answers")},
    }


def _paper(row: Mapping[str, Any], paper: pd.DataFrame) -> dict[str, str]:
    own = paper[(paper["method"] == row["method"]) & (paper["selector"] != "random")]
    place = {"aime2024": ["aime2024", ""]}.get(row["benchmark"], [row["benchmark"]])
    is_size = own["num_rounds"].isin(["", "5"]) & own["num_candidates"].isin(["", "16"])
    own = own[own["benchmark"].isin(place) & is_size]
    found = dict(zip(own["metric"], own["value"], strict=True))
    shares = [found.get(name) for name in ("mean_at_k", "accuracy")]
    mean, accuracy = ("" if share is None else str(round(100 * share, 2)) for share in shares)
    seconds = found.get("seconds_per_question")
    return {
        "paper_mean": mean,
        "paper_accuracy": accuracy,
        "paper_seconds": "" if seconds is None else f"{seconds:g}",
    }


def _points(row: Mapping[str, Any]) -> str:
    value, low, high = (row.get(f"minus_base{end}") for end in ("", "_low", "_high"))
    if pd.isna(value):
        return ""
    return f"{100 * value:+.1f}" + ("" if pd.isna(low) else f" [{100 * low:+.1f}, {100 * high:+.1f}]")


def _giga(flops: float | None) -> str:
    return "" if flops is None or pd.isna(flops) else f"{flops / 1e9:,.2f}"


def _percent(value: float, low: float, high: float) -> str:
    if pd.isna(low):
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


if __name__ == "__main__":
    main()
