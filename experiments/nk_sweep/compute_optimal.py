"""Accuracy of every (n, k, m) against its cost, the frontier, and self-consistency beside it.

python experiments/nk_sweep/compute_optimal.py RUN ... [--outputs FOLDER]

Reads the cells of ME-ICPO and self-consistency of all runs, on one benchmark; writes
frontier.{csv,md,png,pdf} to RUN/report of the first. Costs are of one answer. An arm is on the frontier if no
cheaper one (FLOPs) is better. Intervals are 95% over questions.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from icpo.lab.cost_model.flops import sampling_flops
from icpo.lab.cost_model.sizes import cell_size
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import estimate, mean_at_k, paired_difference
from icpo.report.figure import new_figure, save
from icpo.report.text import markdown_table
from icpo.store import job_settings, load_results, load_scores, read_manifest, read_metrics, run_cells
from icpo.types import Usage

USAGE = ("num_requests", "num_sequences", "prompt_tokens", "cached_prompt_tokens", "generated_tokens")
COLOURS = ("#f2b27a", "#d9702b", "#8c3b0c", "#55a868", "#8172b3")
VOTE = "self_consistency"


@dataclass(frozen=True, slots=True)
class Point:
    """One setting, Mean@k by (question, seed), and the cost of a question.

    Of self-consistency n and m are 0 and k is its number of samples.
    """

    n: int
    k: int
    m: int
    values: dict[tuple[str, int], float]
    tokens: float
    prompts: float
    flops: float

    @property
    def is_vote(self) -> bool:
        """Whether it is self-consistency."""
        return self.n == 0

    @property
    def name(self) -> str:
        """Its setting in words."""
        return f"self-consistency, {self.k}" if self.is_vote else f"n={self.n}, k={self.k}, m={self.m}"

    @property
    def mean(self) -> float:
        """Mean@k."""
        return sum(self.values.values()) / len(self.values)


@ends_in_a_line
def main() -> None:
    """Command line: RUN ... [--outputs FOLDER]."""
    args = run_parser(__doc__).parse_args()
    cells = [cell for name in args.run_names for cell in run_cells(args.outputs, name)]
    points = sorted((p for cell in cells for p in points_of(cell)), key=lambda p: p.flops)
    if not points:
        raise SystemExit("No measured cell of ME-ICPO or self-consistency in these runs.")
    report = args.outputs / args.run_names[0] / "report"
    report.mkdir(parents=True, exist_ok=True)
    on = frontier([p for p in points if not p.is_vote])
    pd.DataFrame([_row(p, on) for p in points]).to_csv(
        report / "frontier.csv", index=False, lineterminator="\n"
    )
    text = "\n\n".join([point_table(points, on), equal_cost(points), look_aheads(points)]) + "\n"
    (report / "frontier.md").write_text(text, encoding="utf-8")
    save(draw(points, on), report, "frontier")
    sys.stdout.write(text)


def points_of(cell: Path) -> Iterator[Point]:
    """One point for each number of rounds after which a cell drew finals."""
    metrics, size = read_metrics(cell) or {}, cell_size(cell)
    if metrics.get("method") not in ("me_icpo", VOTE) or "mean_at_k" not in metrics:
        return
    if size is None:
        raise SystemExit(f"The size of the model of {cell} is not known here.")
    results = load_results(cell)
    scores = {score.key: dict(score.finals) for score in load_scores(cell)}
    answers = metrics["k"]
    for place, (n, _) in enumerate(results[0].finals):
        usages = [(one.usage_at_finals or (one.usage,))[place] for one in results]
        costs = [_one_answer(usage, answers, is_shared=metrics["method"] != VOTE) for usage in usages]
        k = metrics["num_candidates"]
        if metrics["method"] == VOTE:
            n, k = 0, num_samples(cell)
        yield Point(
            n,
            k,
            metrics["num_lookaheads"] or 0,
            {key: mean_at_k(list(finals.values())[place]) for key, finals in scores.items()},
            sum(cost["generated_tokens"] for cost in costs) / len(costs),
            sum(cost["prompt_tokens"] for cost in costs) / len(costs),
            sum(sampling_flops(size, **cost) for cost in costs) / len(costs),
        )


def num_samples(cell: Path) -> int:
    """The samples of a vote; a method of version 1 holds them itself."""
    method = job_settings((read_manifest(cell) or {}).get("config") or {})["method"]
    return int((method.get("budget") or method)["num_samples"])


def _one_answer(usage: Usage, answers: int, *, is_shared: bool) -> dict[str, float]:
    """The usage, were there one final answer."""
    counts = {name: getattr(usage, name) for name in USAGE}
    if not is_shared:
        return {name: value / answers for name, value in counts.items()}
    finals = usage.generated_by_purpose.get("final", 0)
    return counts | {
        "generated_tokens": counts["generated_tokens"] - finals * (1 - 1 / answers),
        "num_sequences": counts["num_sequences"] - answers + 1,
    }


def frontier(points: Sequence[Point]) -> list[Point]:
    """The points, of rising cost, that are better than every cheaper one."""
    best, found = -1.0, []
    for point in points:
        if point.mean > best:
            best = point.mean
            found.append(point)
    return found


def point_table(points: Sequence[Point], on: Sequence[Point]) -> str:
    """The frontier and self-consistency, cheapest first."""
    shown = [p for p in points if p.is_vote or p in on]
    rows = [
        [p.name, _percent(p), f"{p.tokens:,.0f}", f"{p.prompts / p.tokens:.2f}", f"{p.flops / 1e9:,.1f}"]
        for p in shown
    ]
    header = ["setting", "Mean@16 (%)", "tokens", "prompt per generated", "GFLOPs"]
    return f"### Frontier of {sum(not p.is_vote for p in points)} settings\n\n{markdown_table(header, rows)}"


def equal_cost(points: Sequence[Point]) -> str:
    """The best (n, k, m) at no more FLOPs than self-consistency, and the best of all, minus it, paired."""
    rows = []
    for vote in (p for p in points if p.is_vote):
        within = [p for p in points if not p.is_vote and p.flops <= vote.flops]
        for title, some in (("no more FLOPs", within), ("any", [p for p in points if not p.is_vote])):
            if some:
                best = max(some, key=lambda p: p.mean)
                rows.append([vote.name, title, best.name, _difference(best, vote)])
            else:
                rows.append([vote.name, title, "none", ""])
    header = ["self-consistency", "ME-ICPO at", "best", "minus self-consistency (points)"]
    return f"### At equal cost, the best chosen after the fact\n\n{markdown_table(header, rows)}"


def look_aheads(points: Sequence[Point]) -> str:
    """Each m minus m = 1 of the same n and k, after the most rounds."""
    ours = [p for p in points if not p.is_vote]
    last = max(p.n for p in ours)
    first = {p.k: p for p in ours if p.n == last and p.m == 1}
    rows = []
    for m in sorted({p.m for p in ours} - {1}):
        own = {p.k: p for p in ours if p.n == last and p.m == m}
        cells = [_difference(own[k], first[k]) for k in sorted(first) if k in own]
        rows.append([str(m), *cells])
    header = ["m", *(f"k = {k}" for k in sorted(first))]
    return f"### m minus m = 1 (points), n = {last}\n\n{markdown_table(header, rows)}"


def draw(points: Sequence[Point], on: Sequence[Point]) -> Figure:
    """Two panels: against FLOPs and against generated tokens."""
    figure = new_figure(9.0, 4.0)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, cost, title in zip(panels, ("flops", "tokens"), ("FLOPs", "generated tokens"), strict=True):
        for colour, k in zip(COLOURS, sorted({p.k for p in points if not p.is_vote}), strict=False):
            own = [p for p in points if not p.is_vote and p.k == k]
            axes.scatter([getattr(p, cost) for p in own], [100 * p.mean for p in own], s=16, color=colour,
                         label=f"ME-ICPO, k = {k}")  # fmt: skip
        best = frontier(sorted((p for p in points if not p.is_vote), key=lambda p: getattr(p, cost)))
        _line(axes, best, cost, "#444444", "its frontier")
        _line(axes, [p for p in points if p.is_vote], cost, "#2b6cb0", "self-consistency")
        axes.set_xscale("log")
        axes.set_xlabel(f"{title} for one answer")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("right answers (Mean@16), %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def _line(axes: Any, points: Sequence[Point], cost: str, colour: str, label: str) -> None:
    found = [estimate(p.values) for p in points]
    spans = [[100 * (e.value - e.low) for e in found], [100 * (e.high - e.value) for e in found]]
    costs, values = [getattr(p, cost) for p in points], [100 * e.value for e in found]
    axes.errorbar(
        costs,
        values,
        yerr=spans,
        color=colour,
        marker="o",
        markersize=3,
        elinewidth=0.7,
        capsize=2,
        label=label,
    )


def _row(point: Point, on: Sequence[Point]) -> dict[str, Any]:
    found = estimate(point.values)
    return {
        "setting": point.name, "n": point.n, "k": point.k, "m": point.m,
        "mean": found.value, "low": found.low, "high": found.high,
        "tokens": point.tokens, "prompt_tokens": point.prompts, "flops": point.flops,
        "is_on_frontier": point in on,
    }  # fmt: skip


def _percent(point: Point) -> str:
    found = estimate(point.values)
    return f"{100 * found.value:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _difference(a: Point, b: Point) -> str:
    gain = paired_difference(a.values, b.values)
    return f"{100 * gain.value:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"


if __name__ == "__main__":
    main()
