"""How answers change with the rounds in the prompt, from the stored cells of any run of ME-ICPO.

python experiments/nano/make_figures.py [RUN_NAME] [--outputs FOLDER]

Mean@k, copy rate and look-ahead entropy after 0, 1, ..., n rounds (0: the empty history), a curve a level;
writes RUN/report/rounds.csv and rounds.{png,pdf}, of several arms one picture each. Finals drawn after t
rounds (method.finals_after=[0,1,2,3]) are measured; where there are none, round t + 1's candidates, whose
prompt is the same.
"""

import re
import sys
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from icpo.errors import RecordsError
from icpo.evaluation.stored_rules import stored_rules
from icpo.grading import Grader
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import estimate, mean_at_k
from icpo.metrics.copying import Tally, copy_share
from icpo.metrics.estimates import SHARE
from icpo.report.figure import new_figure, save
from icpo.store import load_results, load_scores, read_metrics, run_cells
from icpo.types import GradedFinals, Outcome, QuestionResult, QuestionScore

PANELS = {
    "mean": "right answers, Mean@k (%)",
    "copied": "answers equal to the rewarded one (%)",
    "entropy_bits": "entropy of the answers (bits)",
}
SPANS = {"entropy_bits": (0.0, log2(1000))}  # of more answers than a round has
NOTE = "hollow: no idea shown yet; agreement with what round 1 will keep, entropy of round 1's candidates"
OTHERS = ("#555555", "#999999", "#bbbbbb")  # benchmarks that are no level: greys, dashed
Values = dict[tuple[Hashable, int], float]


@ends_in_a_line
def main() -> None:
    """Command line."""
    args = run_parser(__doc__, "quickstart").parse_args()
    curves = read_curves(args.outputs, args.run_name)
    report = args.outputs / args.run_name / "report"
    report.mkdir(exist_ok=True)
    curves.to_csv(report / "rounds.csv", index=False, lineterminator="\n")
    sys.stdout.write(f"{report / 'rounds.csv'}\n")
    arms = curves.groupby(["backbone", "label"], sort=False)
    for (backbone, label), part in arms:
        name = "rounds" if arms.ngroups == 1 else f"rounds-{backbone}-{label}"
        figure = draw(part)
        figure.suptitle(f"{backbone}, {label}, whiskers: 95% over questions\n{NOTE}", fontsize=8)
        for path in save(figure, report, name):
            sys.stdout.write(f"{path}\n")


def read_curves(outputs: Path, run_name: str) -> pd.DataFrame:
    """A row per cell of ME-ICPO, panel and number of rounds, with its 95% interval over questions.

    Raises RecordsError where the run has no such cell.
    """
    cells = [c for c in run_cells(outputs, run_name) if (read_metrics(c) or {}).get("method") == "me_icpo"]
    if not cells:
        raise RecordsError(
            f"{outputs / run_name} has no measured cell of ME-ICPO. Run python -m icpo.run +exp=quickstart "
            "first, with method.finals_after=[0,1,2] for finals after every round."
        )
    return pd.DataFrame([row for cell in cells for row in cell_rows(cell)])


def cell_rows(cell: Path) -> Iterator[dict[str, Any]]:
    """The rows of one cell."""
    metrics = read_metrics(cell) or {}
    rules = stored_rules(cell)
    scores = load_scores(cell)
    results = {result.key: result for result in load_results(cell)}
    with Grader(rules) as grader:
        for t in range(metrics["num_rounds"] + 1):
            found: dict[str, Values] = {name: {} for name in PANELS}
            for score in scores:
                for name, value in measured(results[score.key], score, t, grader.tally).items():
                    found[name][score.key] = value
            for name, values in found.items():
                if values:
                    one = estimate(values, SPANS.get(name, SHARE))
                    yield {
                        "backbone": metrics["backbone"],
                        "benchmark": metrics["benchmark"],
                        "label": metrics["label"],
                        "panel": name,
                        "rounds": t,
                        "value": one.value,
                        "low": one.low,
                        "high": one.high,
                        "num_questions": metrics["num_questions"],
                    }


def measured(result: QuestionResult, score: QuestionScore, t: int, tally: Tally) -> dict[str, float]:
    """What one question tells of the prompt with t rounds.

    `copied` compares with the history of these rounds; without any, with what round 1 will keep, so that it
    says how often the two agree anyway. `entropy_bits` is that of the look-aheads by which round t chose what
    it kept; at 0 that of round 1's candidates.
    """
    rounds, kind = result.rounds, result.question.kind
    answers = answers_after(score, result, t, tally)
    found = {}
    if answers is not None:
        found["mean"] = mean_at_k(answers)
        seen = replace(result, trace=rounds[: max(t, 1)])
        share = copy_share(seen, replace(score, finals=((t, answers),)), tally)
        found |= {} if share is None else {"copied": share}
    if t == 0:
        found["entropy_bits"] = tally(rounds[0].votes.labels, kind).entropy_bits
    elif bits := [x.entropy_bits for x in rounds[t - 1].lookaheads if x.attempt in rounds[t - 1].kept]:
        found["entropy_bits"] = sum(bits) / len(bits)
    return found


def answers_after(score: QuestionScore, result: QuestionResult, t: int, tally: Tally) -> GradedFinals | None:
    """The finals drawn after t rounds, or else round t + 1's candidates; None where the run ended before."""
    for num_rounds, finals in score.finals:
        if num_rounds == t:
            return finals
    if t >= len(result.rounds):
        return None
    labels = tally([c.answer for c in result.rounds[t].candidates], result.question.kind).labels
    right = {True: Outcome.CORRECT, False: Outcome.WRONG, None: Outcome.UNPARSED}
    return GradedFinals(tuple(right[correct] for correct in score.rounds[t].correct), labels)


def draw(curves: pd.DataFrame) -> Figure:
    """One panel a measure, one curve a benchmark; whiskers are 95% intervals."""
    styles = line_styles(curves["benchmark"].unique())
    figure = new_figure(11.0, 3.8)
    for axes, (panel, title) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
        for i, (benchmark, style) in enumerate(styles.items()):
            part = curves[(curves["panel"] == panel) & (curves["benchmark"] == benchmark)]
            shift = 0.04 * (i - (len(styles) - 1) / 2)  # so that whiskers do not cover one another
            draw_curve(axes, part, shift, *style)
        axes.set_xticks(range(curves["rounds"].max() + 1))
        axes.set_xlabel("rounds in the prompt (0: none)")
        axes.set_title(title, fontsize=10)
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=8)
    return figure


def line_styles(benchmarks: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour and dashes: levels from light to dark, then the others in greys."""
    found = sorted(benchmarks)
    levels = [name for name in found if re.search(r"l\d$", name)]
    shades = colormaps["viridis_r"]
    styles = {name: (to_hex(shades((i + 1) / (len(levels) + 1))), "-") for i, name in enumerate(levels)}
    others = [name for name in found if name not in styles]
    return styles | {name: (OTHERS[i % len(OTHERS)], "--") for i, name in enumerate(others)}


def draw_curve(axes: Axes, part: pd.DataFrame, shift: float, colour: str, dashes: str) -> None:
    """One benchmark's curve; hollow at 0 rounds where nothing could be copied or chosen yet."""
    if part.empty:
        return
    scale = 1 if part["panel"].iloc[0] == "entropy_bits" else 100
    x, y = part["rounds"] + shift, scale * part["value"]
    spans = [scale * (part["value"] - part["low"]), scale * (part["high"] - part["value"])]
    axes.errorbar(
        x, y, yerr=spans, color=colour, linestyle=dashes, marker="o", markersize=4, elinewidth=0.8, capsize=2,
        label=part["benchmark"].iloc[0].removeprefix("arith_"),
    )  # fmt: skip
    if part["panel"].iloc[0] != "mean":
        first = part["rounds"] == 0
        axes.plot(x[first], y[first], "o", color=colour, markersize=4, markerfacecolor="white", zorder=5)


if __name__ == "__main__":
    main()
