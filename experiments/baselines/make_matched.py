"""Who wins at equal cost: python experiments/baselines/make_matched.py [RUN_NAME] [--of METHOD].

Reads RUN/report/costs.csv, which make_table.py writes, and the scores of its cells; writes matched.csv and
matched.md beside it (matched_METHOD.csv and .md for another method than ME-ICPO). Each arm of it meets, of
each baseline, the arm of highest Mean@k among those that cost no more, by FLOPs and by generated tokens:
chosen after the fact, so in the baseline's favour. An arm without FLOPs (TTRL, whose training is no
sampling) is compared by tokens alone. Differences are paired by question and seed. Benchmarks are pooled as
arms of the method have them: a pool is named by its benchmarks (a+b), compares the arms that have all of
them, and names those left out.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd

from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import mean_at_k, paired_difference
from icpo.metrics.compare import Values, values_of
from icpo.report.text import markdown_table
from icpo.store import load_scores

COUNTED = {
    "flops_per_answer": "FLOPs for one answer",
    "flops_all_answers": "FLOPs for 16 answers",
    "tokens_per_answer": "generated tokens for one answer",
    "tokens_all_answers": "generated tokens for 16 answers",
}
ME_ICPO = "me_icpo"
NAMES = {ME_ICPO: "ME-ICPO", "me_icpo_racing": "ME-ICPO with racing", "ttrl": "TTRL"}


@dataclass(frozen=True, slots=True)
class Arm:
    """One method at one budget: Mean@k by (benchmark and question, seed), costs a question as counted."""

    method: str
    label: str
    values: Values
    costs: Mapping[str, float]

    @property
    def score(self) -> float:
        """Mean@k, every question weighing the same."""
        return mean(self.values.values())


@ends_in_a_line
def main() -> None:
    """Command line: [RUN_NAME] [--outputs FOLDER] [--of METHOD]."""
    parser = run_parser(__doc__, "baselines")
    parser.add_argument("--of", default=ME_ICPO, help="the method that meets the baselines, as in costs.csv")
    args = parser.parse_args()
    report = args.outputs / args.run_name / "report"
    if not (report / "costs.csv").is_file():
        raise SystemExit(f"No {report / 'costs.csv'}. Run python experiments/baselines/make_table.py first.")
    rows = list(rows_of(pd.read_csv(report / "costs.csv").dropna(subset="cell"), args.outputs, args.of))
    if not rows:
        raise SystemExit(f"{report / 'costs.csv'} has no arm of {args.of} with others to compare it with.")
    table, shown = (
        report / f"matched{'' if args.of == ME_ICPO else f'_{args.of}'}{end}" for end in (".csv", ".md")
    )
    pd.DataFrame(rows).to_csv(table, index=False, lineterminator="\n")
    text = "\n".join(tables(rows, args.of))
    shown.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{text}\n{table}\n{shown}\n")


def rows_of(costs: pd.DataFrame, outputs: Path, method: str = ME_ICPO) -> Iterator[dict[str, Any]]:
    """One row a benchmark or pool of them, way of counting, arm of the method and baseline."""
    family = ME_ICPO if method.startswith(ME_ICPO) else method
    compared = (costs["method"] == method) | ~costs["method"].str.startswith(family)
    for backbone, own in costs[compared].groupby("backbone", sort=True):
        for scope in scopes_of(own, method):
            arms = arms_of(own[own["benchmark"].isin(scope)], outputs)
            left_out = [label for label in own["label"].unique() if label not in {arm.label for arm in arms}]
            ours = [arm for arm in arms if arm.method == method]
            for counted in COUNTED:
                counting = [arm for arm in ours if arm.costs[counted] >= 0]  # not NaN
                for arm in sorted(counting, key=lambda arm: arm.costs[counted]):
                    for baseline in dict.fromkeys(a.method for a in arms if a.method != method):
                        yield {
                            "backbone": backbone,
                            "benchmark": "+".join(scope),
                            "counted": counted,
                            method: arm.label,
                            f"{method}_cost": arm.costs[counted],
                            "baseline": baseline,
                            **matched(arm, [a for a in arms if a.method == baseline], counted),
                            "left_out": " ".join(left_out),
                        }


def scopes_of(costs: pd.DataFrame, method: str) -> list[tuple[str, ...]]:
    """Each benchmark, then each set of several that an arm of the method has, largest first."""
    ours = costs[costs["method"] == method]
    sets = {tuple(sorted(set(names))) for _, names in ours.groupby("label")["benchmark"]}
    singles = [(name,) for name in sorted(costs["benchmark"].unique())]
    return singles + sorted(sets.difference(singles), key=lambda scope: (-len(scope), scope))


def arms_of(costs: pd.DataFrame, outputs: Path) -> list[Arm]:
    """The arms that have all benchmarks of the table; costs are means over them."""
    num_benchmarks = costs["benchmark"].nunique()
    arms = []
    for (method, label), part in costs.groupby(["method", "label"], sort=False):
        if part["benchmark"].nunique() == num_benchmarks:
            values: dict[Any, float] = {}
            for benchmark, cell in zip(part["benchmark"], part["cell"], strict=True):
                scores = load_scores(outputs / cell)
                values |= values_of(scores, mean_at_k, benchmark)
            arms.append(Arm(method, label, values, {name: part[name].mean(skipna=False) for name in COUNTED}))
    return arms


def matched(ours: Arm, baselines: Sequence[Arm], counted: str) -> dict[str, Any]:
    """An arm minus the best of a baseline's that cost no more; no numbers where all cost more."""
    within = [arm for arm in baselines if arm.costs[counted] <= ours.costs[counted]]
    if not within:
        return dict.fromkeys(("arm", "arm_cost", "difference", "low", "high"))
    best = max(within, key=lambda arm: arm.score)
    gain = paired_difference(ours.values, best.values)
    return {
        "arm": best.label,
        "arm_cost": best.costs[counted],
        "difference": gain.value,
        "low": gain.low,
        "high": gain.high,
    }


def tables(rows: Sequence[Mapping[str, Any]], method: str = ME_ICPO) -> Iterator[str]:
    """One Markdown table a benchmark or pool and way of counting: a line a baseline, a column an arm."""
    names = ("backbone", "benchmark", "counted")
    for key in dict.fromkeys(tuple(row[name] for name in names) for row in rows):
        own = [row for row in rows if tuple(row[name] for name in names) == key]
        backbone, benchmark, counted = key
        ours = {row[method]: f"{row[method]} ({_cost(row[f'{method}_cost'], counted)})" for row in own}
        found = {(row["baseline"], row[method]): row for row in own}
        baselines = dict.fromkeys(row["baseline"] for row in own)
        title = f"{NAMES.get(method, method)} minus baseline (points), {COUNTED[counted]}"
        yield f"### {backbone}, {benchmark}: {title}\n"
        body = [[baseline, *(_text(found[baseline, arm]) for arm in ours)] for baseline in baselines]
        yield markdown_table(["baseline", *ours.values()], body) + "\n"
        if own[0]["left_out"]:
            yield f"Left out, not measured on all of it: {own[0]['left_out'].replace(' ', ', ')}.\n"


def _text(row: Mapping[str, Any]) -> str:
    if row["arm"] is None:
        return "costs more"
    value, low, high = (100 * row[name] for name in ("difference", "low", "high"))
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}] ({row['arm']}, {_cost(row['arm_cost'], row['counted'])})"


def _cost(value: float, counted: str) -> str:
    return f"{value / 1e9:,.2f} GFLOPs" if counted.startswith("flops") else f"{value:,.0f} tokens"


if __name__ == "__main__":
    main()
