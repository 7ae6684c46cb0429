"""Seconds and memory of each number of rounds, measured for itself, beside the paper's.

python experiments/nk_sweep/write_time.py outputs/nk_time/CELL     (writes results/nk_time.csv and nk_time.md)
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from icpo.errors import RecordsError
from icpo.lab.scripts.command_line import ends_in_a_line
from icpo.report.paper import numbers_of
from icpo.report.text import markdown_table

RESULTS = Path(__file__).parent / "results"
NUM_CANDIDATES = 4
SECONDS = "seconds_per_question"
NOTE = """\
k = {k}, m = 16, a prompt of 600 tokens and 100 more for each round, answers of 400, summaries of 100;
the shape of Qwen2.5-Math-7B with random weights on one {card} ({engine}, {dtype}; weights
{weights:.1f} GB; vLLM had {reserved:.0f} GB reserved). The paper's columns: its table
"Empirical cost" at k = 4, on two L40S."""


@ends_in_a_line
def main() -> None:
    """Write nk_time.csv and nk_time.md."""
    if len(sys.argv) != 2 or not (cell := Path(sys.argv[1])).joinpath("throughput.csv").is_file():
        raise RecordsError("Name the folder of one cell of +exp=nk_time: it holds throughput.csv.")
    speeds = pd.read_csv(cell / "throughput.csv")
    speeds.to_csv(RESULTS / "nk_time.csv", index=False, lineterminator="\n")
    account = json.loads((cell / "engine.json").read_text(encoding="utf-8"))
    note = NOTE.format(
        k=NUM_CANDIDATES,
        card=account["card"],
        engine=account["engine"],
        dtype=account["dtype"],
        weights=account["weights_gb"],
        reserved=account["peak_devices_gb"],
    )
    text = f"{note}\n\n{time_table(speeds)}\n\n{growth_table(speeds)}\n"
    (RESULTS / "nk_time.md").write_text(text, encoding="utf-8")


def time_table(speeds: pd.DataFrame) -> str:
    """Seconds a question and the most cache in use, by schedule and number of rounds."""
    paper = paper_costs()
    rows = []
    for n, measured in speeds.groupby("num_rounds"):
        by_schedule = measured.set_index("schedule")
        one, all_at_once = by_schedule.loc["sequential"], by_schedule.loc["pipelined"]
        rows.append(
            [
                str(n),
                f"{one.seconds_per_question:.1f}",
                f"{all_at_once.seconds_per_question:.2f}",
                f"{paper.get((n, SECONDS), float('nan')):.0f}",
                f"{one.peak_cache_gb:.2f}",
                f"{all_at_once.peak_cache_gb:.1f}",
                f"{paper.get((n, 'peak_vram_gb'), float('nan')):.1f}",
            ]
        )
    heads = [
        "n",
        "one question, s",
        "8 at once, s/question",
        "paper, s",
        "one question, cache GB",
        "8 at once, cache GB",
        "paper, peak VRAM GB",
    ]
    return markdown_table(heads, rows)


def growth_table(speeds: pd.DataFrame) -> str:
    """How seconds grow: the exponent from least to most rounds, and the share of a quadratic term."""
    measured = {
        name: (rows.num_rounds.to_numpy(float), rows.seconds_per_question.to_numpy())
        for name, rows in speeds.groupby("schedule", sort=False)
    }
    paper = sorted((n, value) for (n, metric), value in paper_costs().items() if metric == SECONDS)
    measured["the paper's table"] = tuple(np.array(paper, dtype=float).T)
    rows = []
    for name, (n, seconds) in measured.items():
        square, slope, start = np.polyfit(n, seconds, 2)
        exponent = np.log(seconds[-1] / seconds[0]) / np.log(n[-1] / n[0])
        rows.append(
            [
                str(name),
                f"{exponent:.2f}",
                f"{start:.2f} + {slope:.2f} n {square:+.3f} n^2",
                f"{100 * square * n[-1] ** 2 / seconds[-1]:.1f}%",
            ]
        )
    return markdown_table(
        ["schedule", "exponent, least to most n", "fit, s", "of n^2 at the most"],
        rows,
    )


def paper_costs() -> dict[tuple[int, str], float]:
    """The paper's seconds and memory for k = 4, by number of rounds and metric."""
    numbers = numbers_of("nk_sweep").astype({"num_rounds": int, "num_candidates": int})
    rows = numbers[numbers.num_candidates == NUM_CANDIDATES].itertuples()
    return {(row.num_rounds, row.metric): row.value for row in rows}


if __name__ == "__main__":
    main()
