"""How well forced answers rank attempts.

python experiments/racing/agreement.py [RUN_NAME] [--outputs FOLDER]

Reads pairs of cells of +exp=racing_reference, one with whole look-aheads and one with forced answers. Their
first rounds have the same attempts, so each attempt has two entropies.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from icpo.records import read_manifest, read_metrics, read_results, run_cells
from icpo.reporting.markdown import table as markdown_table

HEADER = ["benchmark", "rounds", "attempts", "bits, whole", "bits, forced", "rank correlation within rounds",
          "regret, forced", "regret, at random", "same choice", "tokens, forced : whole"]  # fmt: skip


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run_name", nargs="?", default="racing_reference")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    args = parser.parse_args()
    cells: dict[tuple[str, bool], Path] = {}
    for cell in run_cells(args.outputs, args.run_name):
        if metrics := read_metrics(cell):
            config = (read_manifest(cell) or {})["config"]
            is_forced = config["protocol"]["lookahead"]["forced_answer"] is not None
            cells[str(metrics["benchmark"]), is_forced] = cell
    benchmarks = sorted(name for name, is_forced in cells if is_forced and (name, False) in cells)
    if not benchmarks:
        raise SystemExit(
            f"{args.outputs / args.run_name} holds no pair of cells. "
            "Run python -m icpo.run +exp=racing_reference first."
        )
    rows = [[name, *compared(cells[name, False], cells[name, True])] for name in benchmarks]
    text = markdown_table(HEADER, rows)
    report = args.outputs / args.run_name / "report" / "agreement.md"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{text}\n{report}\n")


def compared(whole: Path, forced: Path) -> list[str]:
    """The columns of HEADER after the first, over the first rounds that both cells have."""
    forced_rows = {(row["question_id"], row["seed"]): row for row in read_results(forced)}
    pairs = [
        (row, other)
        for row in read_results(whole)
        if (other := forced_rows.get((row["question_id"], row["seed"]))) and len(_bits(row)) > 1
    ]
    bits = [(_bits(row), _bits(other)) for row, other in pairs]
    if any(len(full) != len(short) for full, short in bits):
        raise SystemExit(f"{whole} and {forced} differ in their first rounds: they are no pair.")
    correlations = [c for full, short in bits if not np.isnan(c := rank_correlation(full, short))]
    tokens = [sum(_lookahead_tokens(row) for row in rows) for rows in zip(*pairs, strict=True)]
    regrets = [full[int(np.argmin(short))] - full.min() for full, short in bits]
    return [
        str(len(bits)),
        str(sum(len(full) for full, _ in bits)),
        f"{np.mean(np.concatenate([full for full, _ in bits])):.3f}",
        f"{np.mean(np.concatenate([short for _, short in bits])):.3f}",
        f"{np.mean(correlations):+.2f} ({len(correlations)} rounds)" if correlations else "no round differs",
        f"{np.mean(regrets):.4f}",
        f"{np.mean([full.mean() - full.min() for full, _ in bits]):.4f}",
        f"{100 * np.mean([regret < 1e-9 for regret in regrets]):.0f}%",
        f"{tokens[1] / tokens[0]:.2f}",
    ]


def rank_correlation(full: np.ndarray, short: np.ndarray) -> float:
    """Spearman's; not a number where one of the two does not vary."""
    if np.ptp(full) < 1e-9 or np.ptp(short) < 1e-9:
        return float("nan")
    ranks: Sequence[Any] = [pd.Series(values.round(9)).rank() for values in (full, short)]
    return float(np.corrcoef(*ranks)[0, 1])


def _bits(row: dict[str, Any]) -> np.ndarray:
    ordered = sorted(row["trace"][0]["lookaheads"], key=lambda x: x["attempt"])
    return np.array([x["entropy_bits"] for x in ordered])


def _lookahead_tokens(row: dict[str, Any]) -> int:
    return int(row["usage"]["generated_by_purpose"].get("lookahead", 0))


if __name__ == "__main__":
    main()
