"""Who wins at equal tokens: python experiments/baselines/make_matched.py [RUN_NAME].

Reads RUN/report/costs.csv, which make_table.py writes, and the scores of its cells; writes matched.csv and
matched.md beside it. Each arm of ME-ICPO meets, of each rival, the arm of highest Mean@k among those that
take no more tokens: chosen after the fact, so in the rival's favour. Differences are paired by question and
seed.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd

from icpo.metrics import QuestionScore, mean_at_k, paired_difference
from icpo.metrics.compare import Values, values_of
from icpo.records import read_scores
from icpo.reporting.command_line import ends_in_a_line, run_parser
from icpo.reporting.markdown import table as markdown_table

COUNTED = {
    "tokens_per_answer": "generated tokens for one answer",
    "tokens_all_answers": "generated tokens for 16 answers",
}
ALL = "all"


@dataclass(frozen=True, slots=True)
class Arm:
    """One method at one budget: Mean@k by (benchmark and question, seed), tokens a question as counted."""

    method: str
    label: str
    values: Values
    tokens: Mapping[str, float]

    @property
    def score(self) -> float:
        """Mean@k, every question weighing the same."""
        return mean(self.values.values())


@ends_in_a_line
def main() -> None:
    """Command line: [RUN_NAME] [--outputs FOLDER]."""
    args = run_parser(__doc__, "baselines").parse_args()
    report = args.outputs / args.run_name / "report"
    if not (report / "costs.csv").is_file():
        raise SystemExit(f"No {report / 'costs.csv'}. Run python experiments/baselines/make_table.py first.")
    rows = list(rows_of(pd.read_csv(report / "costs.csv").dropna(subset="cell"), args.outputs))
    if not rows:
        raise SystemExit(f"{report / 'costs.csv'} has no arm of ME-ICPO to compare with.")
    pd.DataFrame(rows).to_csv(report / "matched.csv", index=False, lineterminator="\n")
    text = "\n".join(tables(rows))
    (report / "matched.md").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{text}\n{report / 'matched.csv'}\n{report / 'matched.md'}\n")


def rows_of(costs: pd.DataFrame, outputs: Path) -> Iterator[dict[str, Any]]:
    """One row a benchmark (and one for all together), way of counting, arm of ME-ICPO and rival."""
    for backbone, own in costs.groupby("backbone", sort=True):
        scopes = {str(name): part for name, part in own.groupby("benchmark", sort=True)}
        scopes |= {ALL: own} if len(scopes) > 1 else {}
        for scope, part in scopes.items():
            arms = arms_of(part, outputs)
            ours = [arm for arm in arms if arm.method == "me_icpo"]
            for counted in COUNTED:
                for arm in sorted(ours, key=lambda arm: arm.tokens[counted]):
                    for method in dict.fromkeys(a.method for a in arms if not a.method.startswith("me_icpo")):
                        rivals = [a for a in arms if a.method == method]
                        yield {
                            "backbone": backbone,
                            "benchmark": scope,
                            "counted": counted,
                            "me_icpo": arm.label,
                            "me_icpo_tokens": arm.tokens[counted],
                            "rival": method,
                            **matched(arm, rivals, counted),
                        }


def arms_of(costs: pd.DataFrame, outputs: Path) -> list[Arm]:
    """The arms that all benchmarks of the table have; tokens are means over them."""
    num_benchmarks = costs["benchmark"].nunique()
    arms = []
    for (method, label), part in costs.groupby(["method", "label"], sort=False):
        if part["benchmark"].nunique() == num_benchmarks:
            values: dict[Any, float] = {}
            for benchmark, cell in zip(part["benchmark"], part["cell"], strict=True):
                scores = [QuestionScore.from_json(line) for line in read_scores(outputs / cell)]
                values |= values_of(scores, mean_at_k, benchmark)
            arms.append(Arm(method, label, values, {name: part[name].mean() for name in COUNTED}))
    return arms


def matched(ours: Arm, rivals: Sequence[Arm], counted: str) -> dict[str, Any]:
    """ME-ICPO minus the best of a rival's arms that take no more tokens; no numbers where all take more."""
    within = [arm for arm in rivals if arm.tokens[counted] <= ours.tokens[counted]]
    if not within:
        return dict.fromkeys(("arm", "arm_tokens", "difference", "low", "high"))
    best = max(within, key=lambda arm: arm.score)
    gain = paired_difference(ours.values, best.values)
    return {
        "arm": best.label,
        "arm_tokens": best.tokens[counted],
        "difference": gain.value,
        "low": gain.low,
        "high": gain.high,
    }


def tables(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One Markdown table a benchmark and way of counting: a line a rival, a column an arm of ME-ICPO."""
    names = ("backbone", "benchmark", "counted")
    for key in dict.fromkeys(tuple(row[name] for name in names) for row in rows):
        own = [row for row in rows if tuple(row[name] for name in names) == key]
        ours = {row["me_icpo"]: f"{row['me_icpo']} ({row['me_icpo_tokens']:,.0f} tokens)" for row in own}
        found = {(row["rival"], row["me_icpo"]): row for row in own}
        rivals = dict.fromkeys(row["rival"] for row in own)
        backbone, benchmark, counted = key
        yield f"### {backbone}, {benchmark}: ME-ICPO minus rival (points), {COUNTED[counted]}\n"
        body = [[rival, *(_text(found[rival, arm]) for arm in ours)] for rival in rivals]
        yield markdown_table(["rival", *ours.values()], body) + "\n"


def _text(row: Mapping[str, Any]) -> str:
    if row["arm"] is None:
        return "takes more"
    value, low, high = (100 * row[name] for name in ("difference", "low", "high"))
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}] ({row['arm']}, {row['arm_tokens']:,.0f})"


if __name__ == "__main__":
    main()
