"""What TTRL changed on the questions it trained on: python experiments/ttrl/make_table.py [RUN_NAME].

Writes RUN/report/ttrl.md and ttrl.csv; differences are paired by question and seed.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import Estimate, compare
from icpo.report.text import markdown_table
from icpo.store import load_scores, read_metrics, run_cells

METRICS = {"mean_at_k": "Mean@{k}", "majority_at_k": "Maj@{k}", "pass_at_k": "Pass@{k}"}


@ends_in_a_line
def main() -> None:
    """Command line: [RUN_NAME] [--outputs FOLDER]."""
    args = run_parser(__doc__, "ttrl").parse_args()
    rows = [row for cell in run_cells(args.outputs, args.run_name) for row in cell_rows(cell)]
    if not rows:
        raise SystemExit(
            f"No trained cell in {args.outputs / args.run_name}. Run python -m icpo.run +exp=ttrl first."
        )
    report = args.outputs / args.run_name / "report"
    report.mkdir(exist_ok=True)
    text = markdown_table(list(rows[0]), [list(row.values()) for row in rows])
    (report / "ttrl.md").write_text(text + "\n", encoding="utf-8")
    pd.DataFrame(rows).to_csv(report / "ttrl.csv", index=False, lineterminator="\n")
    sys.stdout.write(f"{text}\n{report / 'ttrl.md'}\n{report / 'ttrl.csv'}\n")


def cell_rows(cell: Path) -> list[dict[str, Any]]:
    """One row a metric: before, after, their paired difference, the rewards of training and its cost."""
    metrics = read_metrics(cell) or {}
    if "training" not in metrics:
        return []
    before, after = (load_scores(folder) for folder in (cell / "before", cell))
    gained = compare(after, before).differences
    first, last = reward_ends(cell)
    num = metrics["num_questions"] * len(metrics["seeds"])
    return [
        {
            "cell": cell.name,
            "metric": title.format(k=metrics["k"]),
            "before": _percent(metrics["before"][name]),
            "after": _percent(metrics[name]),
            "difference": _points(gained[name]),
            "reward, first and last steps": f"{first:.2f}, {last:.2f}",
            "training tokens/question": f"{metrics['training']['generated_tokens'] / num:,.0f}",
            "training s": f"{metrics['training']['seconds']:.0f}",
        }
        for name, title in METRICS.items()
    ]


def reward_ends(cell: Path, share: float = 0.1) -> tuple[float, float]:
    """The mean reward over the first and the last tenth of the steps, over seeds."""
    curves = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(cell.glob("training_*/curve.json"))
    ]
    ends = [_ends([line["reward"] for line in curve], share) for curve in curves]
    return sum(first for first, _ in ends) / len(ends), sum(last for _, last in ends) / len(ends)


def _ends(rewards: Sequence[float], share: float) -> tuple[float, float]:
    num = max(1, round(share * len(rewards)))
    return sum(rewards[:num]) / num, sum(rewards[-num:]) / num


def _percent(estimate: Mapping[str, float]) -> str:
    value, low, high = (100 * estimate[name] for name in ("value", "low", "high"))
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"


def _points(estimate: Estimate) -> str:
    value, low, high = (100 * number for number in (estimate.value, estimate.low, estimate.high))
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}]"


if __name__ == "__main__":
    main()
