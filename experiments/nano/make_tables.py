"""The tables of nano, each as .md and .csv in RUN/report, from stored cells alone.

python experiments/nano/make_tables.py [RUN_NAME ...] [--outputs FOLDER]

means   Mean@k: a line an arm, a column a benchmark or pool
scores  every arm on every benchmark and pool: Mean@k, Accuracy, Maj@k, tokens a question and for one answer
gains   arms minus the base, arms of an ablation minus the full algorithm, ME-ICPO minus other methods
losers  where an arm keeps attempts at random: Mean@k by how many of its ideas were tagged 0, others beside it

Intervals are 95%, clustered by question; differences are paired by question and seed.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from icpo.errors import RecordsError
from icpo.lab.scripts.command_line import ends_in_a_line
from icpo.metrics import Estimate, QuestionScore, estimate, mean_at_k, paired_difference
from icpo.metrics.compare import Values
from icpo.metrics.per_question import accuracy, majority_at_k
from icpo.report.cells import BASE, ME_ICPO, ArmKey, Cell, load_cells
from icpo.report.text import markdown_table
from icpo.store import load_results
from icpo.types import GradedFinals, QuestionResult, Usage

RUNS = ("nano_tables", "nano_paper", "nano_ablation")
METRICS: Mapping[str, Callable[[GradedFinals], float]] = {
    "Mean@k": mean_at_k,
    "Accuracy": accuracy,
    "Maj@k": majority_at_k,
}
LEVELS = [f"arith_l{level}" for level in range(1, 6)]
POOLS = {
    "levels 2-5": LEVELS[1:],
    "levels 3-5": LEVELS[2:],
    "held out": [f"arith_heldout_{what}" for what in ("templates", "operands", "length")],
}
BASELINES = ("self_consistency",)


@dataclass(frozen=True, slots=True)
class Arm:
    """One cell, or its like pooled over benchmarks: scores and results by (question, seed)."""

    key: ArmKey
    benchmark: str
    scores: Mapping[tuple[str, int], QuestionScore]
    results: Mapping[tuple[str, int], QuestionResult]

    @property
    def backbone(self) -> str:
        """The backbone's name."""
        return self.key.backbone

    @property
    def is_base(self) -> bool:
        """Whether it is the base with the plain prompt."""
        return self.key.method == BASE

    @property
    def is_at_random(self) -> bool:
        """Whether it is ME-ICPO that keeps attempts at random."""
        return (self.key.method, self.key.reward, self.key.selector) == (ME_ICPO, "majority", "random")

    def values(self, metric: Callable[[GradedFinals], float]) -> Values:
        """A metric of the last finals."""
        return {key: metric(score.last) for key, score in self.scores.items()}

    def tokens(self) -> float:
        """Generated tokens of a question and seed, one set of finals counted."""
        return _mean(_last_usage(row).generated_tokens for row in self.results.values())

    def tokens_of_one_answer(self) -> float:
        """The same with one final: finals share a search; where there is none, each is a draw of its own."""
        return _mean(map(_tokens_of_one_answer, self.results.values()))


@ends_in_a_line
def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run_names", nargs="*", default=RUNS)
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    args = parser.parse_args()
    for run_name in args.run_names:
        arms = [arm for cell in load_cells(args.outputs, run_name) if (arm := arm_of(cell)) is not None]
        if not arms:
            raise SystemExit(
                f"No measured cell under {args.outputs / run_name}. "
                f"Run python -m icpo.run +exp={run_name} first."
            )
        arms += pooled(arms)
        report = args.outputs / run_name / "report"
        report.mkdir(exist_ok=True)
        write_means(report / "means.md", arms)
        write(report / "scores", pd.DataFrame(score_rows(arms)))
        write(report / "gains", pd.DataFrame(gain_rows(arms)))
        write(report / "losers", pd.DataFrame(loser_rows(arms)))


def arm_of(cell: Cell) -> Arm | None:
    """A cell after its last round; None for one not measured. Raises RecordsError for a damaged one."""
    if cell.state == "unreadable":
        raise RecordsError(cell.reason)
    if not cell.arms:
        return None
    results = {result.key: result for result in load_results(cell.folder)}
    return Arm(cell.last.key, cell.last.key.benchmark, {s.key: s for s in cell.scores}, results)


def pooled(arms: Sequence[Arm]) -> list[Arm]:
    """Arms that have every benchmark of a pool, over all of it; every question weighs the same."""
    found: dict[ArmKey, dict[str, Arm]] = {}
    for arm in arms:
        found.setdefault(arm.key.line, {})[arm.benchmark] = arm
    return [
        Arm(
            key,
            pool,
            {key: score for name in names for key, score in own[name].scores.items()},
            {key: row for name in names for key, row in own[name].results.items()},
        )
        for key, own in found.items()
        for pool, names in POOLS.items()
        if all(name in own for name in names)
    ]


def score_rows(arms: Iterable[Arm]) -> Iterator[dict[str, Any]]:
    """A row an arm and benchmark."""
    for arm in ordered(arms):
        row: dict[str, Any] = {"backbone": arm.backbone, "benchmark": arm.benchmark, "arm": arm.key.title}
        row |= {"pairs": len(arm.scores)}
        for name, metric in METRICS.items():
            row |= interval(name, estimate(arm.values(metric)))
        yield row | {"tokens": arm.tokens(), "tokens, one answer": arm.tokens_of_one_answer()}


def gain_rows(arms: Sequence[Arm]) -> Iterator[dict[str, Any]]:
    """A row a comparison; `share` is the gain in parts of what the majority gains, where that is above 0."""
    for a, b in comparisons(ordered(arms)):
        row: dict[str, Any] = {"backbone": a.backbone, "benchmark": a.benchmark, "arm": a.key.title}
        row |= {"minus": b.key.title, "pairs": len(a.scores.keys() & b.scores.keys())}
        for name, metric in METRICS.items():
            row |= interval(name, paired_difference(a.values(metric), b.values(metric)))
        if b.key.is_base:
            majority = b.values(majority_at_k)
            gap = paired_difference(majority, b.values(mean_at_k))
            row |= interval("Maj@k - Mean@k of the base", gap)
            row["share"] = row["Mean@k"] / gap.value if gap.low > 0 else float("nan")
            row |= interval("beyond majority", paired_difference(a.values(mean_at_k), majority))
        yield row


def comparisons(arms: Sequence[Arm]) -> Iterator[tuple[Arm, Arm]]:
    """Arms with the base, arms of an ablation with the full algorithm, ME-ICPO with each other method."""
    for place in dict.fromkeys((arm.backbone, arm.benchmark) for arm in arms):
        own = [arm for arm in arms if (arm.backbone, arm.benchmark) == place]
        ours = [arm for arm in own if arm.key.method == ME_ICPO]
        full = [arm for arm in own if arm.key.is_full]
        for references, others in (([arm for arm in own if arm.is_base], own), (full, ours)):
            for reference in references:
                yield from ((arm, reference) for arm in others if arm is not reference)
        for other in (arm for arm in own if arm.key.method in BASELINES):
            yield from ((arm, other) for arm in full)


def loser_rows(arms: Sequence[Arm]) -> Iterator[dict[str, Any]]:
    """A row a number of ideas tagged 0, on the questions and seeds where the arm at random kept so many."""
    for ours in (arm for arm in ordered(arms) if arm.is_at_random):
        place = [a for a in arms if (a.backbone, a.benchmark) == (ours.backbone, ours.benchmark)]
        others = [a for a in place if a.is_base] + [a for a in place if a.key.is_full]
        numbers = {key: num_losers(row) for key, row in ours.results.items()}
        for number in sorted(set(numbers.values())):
            shared = [arm.scores.keys() for arm in (ours, *others)]
            pairs = [key for key, n in numbers.items() if n == number and all(key in keys for keys in shared)]
            row: dict[str, Any] = {"backbone": ours.backbone, "benchmark": ours.benchmark}
            row |= {"ideas tagged 0": number, "pairs": len(pairs)}
            for arm in (*others, ours) if pairs else ():
                values = arm.values(mean_at_k)
                row |= interval(arm.key.title, estimate({key: values[key] for key in pairs}))
            yield row


def num_losers(result: QuestionResult) -> int:
    """How many of the ideas that a question's rounds kept were tagged 0."""
    return sum(round_.attempts[i].reward == 0 for round_ in result.rounds for i in round_.kept)


def ordered(arms: Iterable[Arm]) -> list[Arm]:
    """By backbone, then benchmark as in the list of levels, pools and held-out sets."""
    names = [*LEVELS, "levels 2-5", "levels 3-5", *POOLS["held out"], "held out"]
    places = {name: i for i, name in enumerate(names)}
    return sorted(arms, key=lambda arm: (arm.backbone, places.get(arm.benchmark, len(places)), arm.key.label))


def write_means(path: Path, arms: Sequence[Arm]) -> None:
    """Mean@k in percent with its interval; a blank where an arm was not run."""
    means = {(arm.key.line, arm.benchmark): estimate(arm.values(mean_at_k)) for arm in ordered(arms)}
    lines = dict.fromkeys(line for line, _ in means)
    columns = list(dict.fromkeys(benchmark for _, benchmark in means))

    def cell(line: ArmKey, column: str) -> str:
        mean = means.get((line, column))
        return "" if mean is None else shown({"x": mean.value, "x low": mean.low, "x high": mean.high}, "x")

    rows = [[line.title, *(cell(line, column) for column in columns)] for line in lines]
    text = markdown_table(["Mean@k (%)", *(name.removeprefix("arith_") for name in columns)], rows)
    path.write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{text}\n\n{path}\n\n")


def interval(name: str, value: Estimate) -> dict[str, float]:
    """Value and bounds as columns."""
    return {name: value.value, f"{name} low": value.low, f"{name} high": value.high}


def write(path: Path, rows: pd.DataFrame) -> None:
    """NAME.csv as it is, NAME.md for readers; nothing where there are no rows."""
    if rows.empty:
        return
    rows.to_csv(path.with_suffix(".csv"), index=False, lineterminator="\n")
    header = [name for name in rows.columns if not name.endswith((" low", " high"))]
    text = markdown_table(header, [[shown(row, name) for name in header] for row in rows.to_dict("records")])
    path.with_suffix(".md").write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{path.parent.parent.name}\n\n{text}\n\n{path}.md\n{path}.csv\n\n")


def shown(row: Mapping[Any, Any], name: str) -> str:
    """Percent with its interval, a share in percent, tokens and counts as whole numbers."""
    value = row[name]
    if f"{name} low" in row:
        if value != value:
            return ""
        return f"{100 * value:.1f} [{100 * row[f'{name} low']:.1f}, {100 * row[f'{name} high']:.1f}]"
    if name == "share":
        return "" if value != value else f"{100 * value:.0f}%"
    return value if isinstance(value, str) else f"{value:,.0f}"


def _last_usage(result: QuestionResult) -> Usage:
    return result.usage_at_finals[-1] if result.usage_at_finals else result.usage


def _tokens_of_one_answer(result: QuestionResult) -> float:
    usage, k = _last_usage(result), len(result.finals[-1][1])
    finals = usage.generated_by_purpose.get("final", 0)
    search = usage.generated_tokens - finals
    return float(search + finals / k if finals else search / k)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


if __name__ == "__main__":
    main()
