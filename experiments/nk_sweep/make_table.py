"""Costs over n and k beside the paper's, the fit of its time model, and its theorems with numbers in them.

python experiments/nk_sweep/make_table.py [RUN_NAME] [--outputs FOLDER]
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from icpo.errors import RecordsError
from icpo.lab.cost_model import complexity
from icpo.lab.cost_model.complexity import QWEN_7B, Workload, time_threshold
from icpo.lab.cost_model.fit import CostFit, Measured, fit_costs, growth_exponent
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.lab.scripts.one_cell import one_each
from icpo.metrics import mean_at_k, paired_difference
from icpo.report.paper import numbers_of
from icpo.report.text import markdown_table as table
from icpo.store import load_scores, read_metrics, run_cells

COSTS = ("tokens_per_question", "seconds_per_question")
OURS = ("tokens_per_question", "prompt_tokens_per_question", "seconds_per_question")
NOTE = """\
Per question and seed; tokens are those generated. Our seconds of n rounds are the run's, shared out by these
tokens, so they grow in n as tokens do; prompts, which grow with the history, are counted apart."""
PAPER_ROUNDS = 5
TTRL: Any = {"num_steps": 1, "backward_ratio": 2.0}


@ends_in_a_line
def main() -> None:
    """Writes RUN/report/nk_costs.md and .csv, and prints the former."""
    args = run_parser(__doc__, "nk_sweep").parse_args()
    report = args.outputs / args.run_name / "report"
    costs = measured_costs(args.outputs, args.run_name)
    paper = paper_costs()
    report.mkdir(exist_ok=True)
    beside = costs.merge(paper, on=["num_rounds", "num_candidates"], how="outer", suffixes=("", "_paper"))
    beside.to_csv(report / "nk_costs.csv", index=False, lineterminator="\n")
    text = "\n\n".join(
        section
        for section in [
            f"# Costs of {args.run_name} over n and k",
            NOTE,
            _cost_table(beside),
            gain_section(args.outputs, args.run_name),
            line_section(costs),
            *(fit_section("ours", costs, cost) for cost in OURS),
            *(fit_section("the paper's table", paper.assign(lookahead_tokens=0.0), cost) for cost in COSTS),
            theory_section(),
        ]
        if section
    )
    (report / "nk_costs.md").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


def measured_costs(outputs: Path, run_name: str) -> pd.DataFrame:
    """One row per n and k, per question and seed.

    Costs of n rounds are prefix sums of one run's: tokens are counted, seconds are the run's, shared out by
    generated tokens. `lookahead_tokens` is what one candidate's look-aheads took on average (m l of the time
    model).
    Raises RecordsError where the run holds no sweep, or several, or two cells of one k.
    """
    rows, swept, cells = [], set(), []
    for folder in run_cells(outputs, run_name):
        metrics = read_metrics(folder) or {}
        if metrics.get("method") != "me_icpo":
            continue
        swept.add((metrics["backbone"], metrics["benchmark"]))
        cells.append(
            ((metrics["backbone"], metrics["benchmark"], f"k = {metrics['num_candidates']}"), folder)
        )
        num_runs = metrics["num_questions"] * len(metrics["seeds"])
        looked = metrics["generated_by_purpose"].get("lookahead", 0)
        for n, part in (metrics.get("by_num_rounds") or {str(metrics["num_rounds"]): metrics}).items():
            if "generated_tokens" not in part:
                raise RecordsError(
                    f"{folder / 'metrics.json'} does not say what {n} rounds cost: it was measured "
                    "by a version without prefix sums. Run the cell again; its journal answers every request."
                )
            share = part["generated_tokens"] / metrics["generated_tokens"]
            rows.append(
                {
                    "num_rounds": int(n),
                    "num_candidates": metrics["num_candidates"],
                    "tokens_per_question": part["generated_tokens"] / num_runs,
                    "prompt_tokens_per_question": part["prompt_tokens"] / num_runs,
                    "seconds_per_question": share * metrics["wall_seconds"] / num_runs,
                    "lookahead_tokens": looked
                    / (num_runs * metrics["num_rounds"] * metrics["num_candidates"]),
                }
            )
    if len(swept) != 1:
        raise RecordsError(
            f"The cost table is of one backbone on one benchmark, but {outputs / run_name} has cells of "
            f"{sorted(swept) or 'none'}. Sweep each under a run_name of its own with +exp=nk_sweep."
        )
    one_each(cells)
    return pd.DataFrame(rows).sort_values(["num_rounds", "num_candidates"])


def paper_costs() -> pd.DataFrame:
    """The paper's costs, a row for each n and k."""
    sizes = ["num_rounds", "num_candidates"]
    numbers = numbers_of("nk_sweep").astype(dict.fromkeys(sizes, int))
    return (
        numbers.pivot(index=sizes, columns="metric", values="value").reset_index().rename_axis(columns=None)
    )


def _cost_table(beside: pd.DataFrame) -> str:
    header = ["n, k", "seconds", "paper", "tokens (thousands)", "paper", "peak VRAM of the paper (GB)"]
    rows = [
        [
            f"{row['num_rounds']:.0f}, {row['num_candidates']:.0f}",
            _number(row["seconds_per_question"], 1),
            _number(row["seconds_per_question_paper"], 1),
            _number(row["tokens_per_question"] / 1000, 2),
            _number(row["tokens_per_question_paper"] / 1000, 2),
            _number(row["peak_vram_gb"], 2),
        ]
        for row in beside.to_dict("records")
    ]
    return table(header, rows)


def gain_section(outputs: Path, run_name: str) -> str:
    """What more candidates than the fewest give after PAPER_ROUNDS (else the last); "" for one k alone."""
    means = {}
    for folder in run_cells(outputs, run_name):
        metrics = read_metrics(folder) or {}
        if metrics.get("method") == "me_icpo":
            finals = [(score, dict(score.finals)) for score in load_scores(folder)]
            means[metrics["num_candidates"]] = {
                score.key: mean_at_k(after.get(PAPER_ROUNDS, score.last)) for score, after in finals
            }
    fewest = min(means)
    rows = [
        [str(k), f"{100 * gain.value:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"]
        for k in sorted(means.keys() - {fewest})
        for gain in [paired_difference(means[k], means[fewest])]
    ]
    title = f"## Mean@k (%) after {PAPER_ROUNDS} rounds, or the last, minus that at k = {fewest}"
    return f"{title}\n\n{table(['k', 'difference [95% interval]'], rows)}" if rows else ""


def line_section(costs: pd.DataFrame) -> str:
    """Tokens as a + b k n, the finals and what each candidate of each round takes; "" for one k n alone."""
    measured = costs[costs["num_rounds"] > 0]
    kn, tokens = measured["num_rounds"] * measured["num_candidates"], measured["tokens_per_question"]
    if kn.nunique() < 2:
        return ""
    terms = np.stack([1 / tokens, kn / tokens], axis=1)
    line = np.linalg.lstsq(terms, np.ones(len(tokens)), rcond=None)[0]
    worst = abs(terms @ line - 1).max()
    return (
        f"## tokens per question as a line, ours\n\n{line[0]:,.0f} + {line[1]:,.0f} k n by relative least "
        f"squares, at most {100 * worst:.1f}% off in any of {len(tokens)} cells."
    )


def fit_section(name: str, costs: pd.DataFrame, cost: str) -> str:
    """The fit's coefficients and its shares in the largest cell, and the exponent in n for each k."""
    cells = [
        Measured(row["num_rounds"], row["num_candidates"], row["lookahead_tokens"], row[cost])
        for row in costs.to_dict("records")
        if row["num_rounds"] > 0
    ]
    fit, largest = fit_costs(cells), max(cells, key=lambda c: c.num_rounds * c.num_candidates)
    by_k = {
        k: {c.num_rounds: c.cost for c in cells if c.num_candidates == k}
        for k in sorted({c.num_candidates for c in cells})
    }
    exponents = {k: growth_exponent(part) for k, part in by_k.items() if len(part) > 1}
    return "\n\n".join(
        [
            f"## {cost.replace('_', ' ')}, {name}",
            _coefficients(fit, fit.shares(largest), f"n={largest.num_rounds}, k={largest.num_candidates}"),
            f"Relative error {100 * fit.relative_error:.0f}%."
            + (
                f" Not to be told apart in this sweep: {', '.join(fit.inseparable)}."
                if fit.inseparable
                else ""
            ),
            "Growth n^p from the smallest to the largest n: "
            + (", ".join(f"p = {p:.2f} at k = {k}" for k, p in exponents.items()) or "one n only")
            + ".",
        ]
    )


def _coefficients(fit: CostFit, shares: Mapping[str, float], where: str) -> str:
    rows = [[name, f"{value:.3g}", f"{100 * shares[name]:.0f}%"] for name, value in fit.coefficients.items()]
    return table(["term", "coefficient", f"share at {where}"], rows)


def theory_section() -> str:
    """The paper's theorems for Qwen2.5-Math-7B: beta = l as it sets it, and with short summaries."""
    paper = Workload(5, 16, 16, prompt_tokens=400, answer_tokens=1000, appended_tokens=1000)
    summarised = replace(paper, appended_tokens=150)
    few = replace(paper, num_candidates=4)
    rows = [
        ["M_TTRL, batch 8, Adam", _gigabytes(complexity.ttrl_bytes(QWEN_7B, paper, batch=8))],
        ["n* of time, case k > n (k = 16)", f"{time_threshold(paper, **TTRL):.1f}"],
        ["n* of time, case k <= n (k = 4)", f"{time_threshold(few, **TTRL):.1f}"],
        [
            "n of memory, b = 16 against a batch of 8",
            f"{complexity.memory_threshold(QWEN_7B, paper, batch=8, num_concurrent=16):,.0f}",
        ],
    ]
    return "\n\n".join(
        [
            "## The paper's theorems with numbers in them",
            "Qwen2.5-Math-7B; n = 5, k = m = 16, s_0 = 400, l = 1000; TTRL with g = 1 and kappa = 2. Times "
            "are in "
            "the theorems' units (constants 1).",
            table(
                ["quantity", "value"],
                _times_and_memory(paper, "beta = l") + _times_and_memory(summarised, "beta = 150") + rows,
            ),
        ]
    )


def _times_and_memory(work: Workload, name: str) -> list[list[str]]:
    priced = complexity.me_icpo_time(QWEN_7B, work, full_lookaheads=False)
    drawn = complexity.me_icpo_time(QWEN_7B, work, full_lookaheads=True)
    ttrl = complexity.ttrl_time(QWEN_7B, work, **TTRL)
    memory = complexity.me_icpo_bytes(QWEN_7B, work, num_concurrent=16)
    return [
        [f"T_ME, look-aheads of O(1) tokens ({name})", f"{priced:.2e}"],
        [f"T_ME, look-aheads as full answers ({name})", f"{drawn:.2e} ({drawn / priced:.1f} times as much)"],
        [f"T_TTRL ({name})", f"{ttrl:.2e} ({ttrl / priced:.1f} and {ttrl / drawn:.2f} times as much)"],
        [f"M_ME, b = 16 ({name})", _gigabytes(memory)],
    ]


def _gigabytes(value: float) -> str:
    return f"{value / 1e9:.1f} GB"


def _number(value: Any, digits: int) -> str:
    return "" if value != value else f"{value:,.{digits}f}"


if __name__ == "__main__":
    main()
