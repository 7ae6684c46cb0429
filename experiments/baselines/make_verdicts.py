"""How well a model judges its own samples: python experiments/baselines/make_verdicts.py [RUN_NAME].

Reads the stored verdicts of best-of-n; writes RUN/report/verdicts.csv and verdicts.md. Intervals are 95%,
over questions; the difference is paired by question and seed, and leaves out those where no
sample is called right.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd

from icpo.evaluation.stored_rules import stored_rules
from icpo.grading import Grader
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import estimate
from icpo.metrics.estimates import DIFFERENCE
from icpo.report.cells import arm_name
from icpo.report.text import markdown_table
from icpo.store import load_results, load_scores, read_metrics, run_cells
from icpo.types import Step

Judged = dict[tuple[str, int], list[tuple[bool, float]]]
"""By question and seed: whether each judged sample is right, and its mean verdict."""


@ends_in_a_line
def main() -> None:
    """Command line: [RUN_NAME] [--outputs FOLDER]."""
    args = run_parser(__doc__, "baselines").parse_args()
    rows = list(rows_of(args.outputs, args.run_name))
    if not rows:
        raise SystemExit(f"No best-of-n in {args.outputs / args.run_name}. Run +exp=baselines first.")
    report = args.outputs / args.run_name / "report"
    report.mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv(report / "verdicts.csv", index=False, lineterminator="\n")
    text = markdown_table(list(rows[0]), [list(row.values()) for row in rows]) + "\n"
    (report / "verdicts.md").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{text}\n{report / 'verdicts.csv'}\n{report / 'verdicts.md'}\n")


def rows_of(outputs: Path, run_name: str) -> Iterator[dict[str, Any]]:
    """One row a cell of best-of-n. A sample is called right when its mean verdict is above zero."""
    for cell in run_cells(outputs, run_name):
        metrics = read_metrics(cell) or {}
        if metrics.get("method") != "best_of_n":
            continue
        judged = read_judged(cell)
        flat = [sample for samples in judged.values() for sample in samples]
        of_right, of_wrong = ([v > 0 for is_right, v in flat if is_right is kind] for kind in (True, False))
        gains = {
            key: mean(called) - mean(is_right for is_right, _ in samples)
            for key, samples in judged.items()
            if (called := [is_right for is_right, verdict in samples if verdict > 0])
        }
        yield {
            "benchmark": metrics["benchmark"],
            "arm": arm_name(metrics),
            "samples judged": f"{len(flat):,}",
            "right ones called right": _share(of_right),
            "wrong ones called right": _share(of_wrong),
            "right among those called right, minus among all": _points(gains),
            "left out, none called right": f"{len(judged) - len(gains)} of {len(judged)}",
            "best-of-n, Mean@k": f"{100 * metrics['mean_at_k']['value']:.1f}",
        }


def read_judged(cell: Path) -> Judged:
    """The judged samples of a cell, graded by its own rules."""
    golds = {score.key: score.gold for score in load_scores(cell)}
    judged: Judged = {}
    with Grader(stored_rules(cell)) as grader:
        for result in load_results(cell):
            steps = [step for step in result.trace if isinstance(step, Step) and step.verdicts]
            answers = [golds[result.key], *(step.candidates[0].answer for step in steps)]
            gold, *labels = grader.tally(answers, result.question.kind).labels
            pairs = zip(labels, steps, strict=True)
            judged[result.key] = [(label == gold, step.value or 0.0) for label, step in pairs]
    return judged


def _share(called: list[bool]) -> str:
    return f"{100 * mean(called):.1f}%" if called else ""


def _points(gains: Mapping[tuple[str, int], float]) -> str:
    if not gains:
        return ""
    gain = estimate(gains, DIFFERENCE)
    return f"{100 * gain.value:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"


if __name__ == "__main__":
    main()
