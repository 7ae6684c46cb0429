"""Selection regret against look-aheads sampled: uniform budgets and every racing rule, on stored answers.

python experiments/racing/simulate.py [RUN_NAME] [--outputs FOLDER] [--repetitions R] [--made-up N]

The shares of answers in a run with many look-aheads (+exp=racing_reference) are taken for the truth; the
selectors choose on samples from them. Writes RUN/report/simulation.{csv,md,png}. --made-up N needs no run.

Shapes: A attempts, M look-aheads.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from races import BUDGET, Race, describe, made_up_races, sample_answers, stored_races

from icpo.lab.racing import Bound, Certain, Exact, Merged
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import Estimate, estimate
from icpo.report.figure import new_figure
from icpo.report.text import markdown_table
from icpo.selectors import Entropy
from icpo.types import Lookahead, Looking, Selection, Selector, Votes

MAX_BUDGET = 32
MOST_BITS = float(np.log2(MAX_BUDGET))
TARGET_SHARE = 1 / 3  # of the look-aheads that uniform m = 16 samples
SEED = 0
HALVING = (
    (1, 3, 4, 8), (1, 4, 5, 6), (2, 2, 4, 8), (2, 2, 5, 7), (2, 4, 10), (3, 3, 5, 5), (4, 4, 8), (4, 12),
    (8, 8),
)  # fmt: skip
COLOURS = {"uniform": "#555555", "halving": "#d9702b", "bound": "#2b6cb0", "exact": "#55a868"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One selector at one budget."""

    rule: str
    name: str
    selector: Selector
    budget: int


@ends_in_a_line
def main() -> None:
    """Command line."""
    parser = run_parser(__doc__, "racing_reference")
    parser.add_argument("--repetitions", type=int, default=50, help="races run on each stored round")
    parser.add_argument(
        "--made-up", type=int, default=0, help="so many invented rounds instead of stored ones"
    )
    args = parser.parse_args()
    run = args.outputs / ("racing_made_up" if args.made_up else args.run_name)
    races = made_up_races(args.made_up) if args.made_up else stored_races(run)
    if not races:
        raise SystemExit(
            f"No round of two attempts or more under {run}. Run python -m icpo.run +exp=racing_reference "
            "first, or pass --made-up 60."
        )
    report = run / "report"
    report.mkdir(parents=True, exist_ok=True)
    results = simulate(races, settings(), args.repetitions)
    results.to_csv(report / "simulation.csv", index=False, lineterminator="\n")
    text = f"{describe(races, args.repetitions)}\n\n{shown(results)}\n\n{verdict(results)}\n"
    (report / "simulation.md").write_text(text, encoding="utf-8")
    draw(results).savefig(report / "simulation.png", dpi=160)
    sys.stdout.write(f"{text}\n" + "".join(f"{report}/simulation.{end}\n" for end in ("csv", "md", "png")))


def settings() -> list[Setting]:
    """Uniform budgets, and each rule with its knobs swept."""
    found = [Setting("uniform", f"m={m}", Entropy("entropy", False), m) for m in (4, 8, 16, MAX_BUDGET)]
    for instalments in HALVING:
        for certain_after in (None, 4, 8):
            found.append(_racing(Certain, "halving", instalments, certain_after=certain_after))
    for instalments in ((2, 2, 4, 8), (4, 4, 8), (4, 2), (8, 8)):
        for width in (0.0, 0.25, 0.5, 1.0, 2.0):
            for certain_after in (None, 4):
                found.append(_racing(Bound, "bound", instalments, width=width, certain_after=certain_after))
    merged = ((16,), (8, 8), (4, 12), (4, 4, 8), (2, 2, 5, 7))
    found += [_racing(Merged, "halving", instalments, "merge_identical=True") for instalments in merged]
    found += [_racing(Exact, "exact", instalments) for instalments in ((4, 4, 8), (8, 2), (1,))]
    return found


def _racing(kind: Any, rule: str, instalments: tuple[int, ...], *notes: str, **knobs: Any) -> Setting:
    """A race, named by its instalments, notes and knobs."""
    named = [*notes, *(f"{key}={value}" for key, value in knobs.items())]
    name = " ".join([",".join(map(str, instalments)), *named])
    selector = kind(name="entropy_racing", instalments=instalments, **knobs)
    return Setting(rule, name, selector, BUDGET)


def simulate(races: Sequence[Race], chosen: Sequence[Setting], repetitions: int) -> pd.DataFrame:
    """One row a setting; every setting chooses on the same samples of a race and repetition."""
    rng = np.random.default_rng(SEED)
    outcomes: list[dict[str, Any]] = []
    for number, race in enumerate(races):
        bits_A = race.bits_A()
        for repetition in range(number * repetitions, (number + 1) * repetitions):
            sampled_AM = sample_answers(race.shares_AC, MAX_BUDGET, rng)
            for setting in chosen:
                outcome = run_race(race, sampled_AM, setting, bits_A)
                key = {"rule": setting.rule, "setting": setting.name, "question": race.question}
                outcomes.append({**key, "repetition": repetition, **outcome})
    return summarised(pd.DataFrame(outcomes), chosen)


def run_race(
    race: Race, sampled_AM: NDArray[np.int64], setting: Setting, bits_A: NDArray[np.float64]
) -> dict[str, float]:
    """What a selector chose on these samples and what it took.

    `accuracy` is that of finals after the chosen attempt; `regret_bits` the true entropy of the chosen minus
    the least; `missed` whether that is above 0; `optimism_bits` the true entropy of the chosen minus that of
    the look-aheads that chose it: how much they flatter it.
    """
    silence = race.shares_AC.shape[1] - 1
    num_sampled = [0] * len(race.attempts)
    num_stages = 0

    def ask(wanted: Mapping[int, int]) -> Looking:
        nonlocal num_stages
        yield from ()
        num_stages += 1
        for i, size in wanted.items():
            num_sampled[i] += size
        return [Lookahead(i, votes_of(sampled_AM[i, : num_sampled[i]], silence)) for i in wanted]

    selecting = setting.selector.select(race.attempts, ask, num_lookaheads=setting.budget, seed=0)
    try:
        next(selecting)
    except StopIteration as stop:
        selection: Selection = stop.value
    [kept] = selection.kept
    seen = next((x.entropy_bits for x in selection.lookaheads if x.attempt == kept), float("nan"))
    regret = float(bits_A[kept] - bits_A.min())
    return {
        "samples": float(sum(num_sampled)),
        "stages": float(num_stages),
        "accuracy": float(race.accuracy_A[kept]),
        "regret_bits": regret,
        "missed": float(regret > 1e-9),
        "optimism_bits": float(bits_A[kept] - seen),
    }


def votes_of(classes: NDArray[np.int64], silence: int) -> Votes:
    """The votes of samples given as class indices."""
    counts = np.bincount(classes, minlength=silence + 1).tolist()
    named = sorted(((str(i), n) for i, n in enumerate(counts[:silence]) if n), key=lambda item: -item[1])
    return Votes(tuple(named), counts[silence])


def summarised(outcomes: pd.DataFrame, chosen: Sequence[Setting]) -> pd.DataFrame:
    """Means by setting; intervals are clustered by question, differences to uniform m = 16 paired."""
    keys = ["question", "repetition"]
    by_setting = {
        (str(rule), str(name)): part.set_index(keys)
        for (rule, name), part in outcomes.groupby(["rule", "setting"], sort=False)
    }
    reference = by_setting["uniform", f"m={BUDGET}"]
    rows = []
    for setting in chosen:
        part = by_setting[setting.rule, setting.name]
        regret = _estimate(part["regret_bits"], 0.0, MOST_BITS)
        difference = _estimate(part["regret_bits"] - reference["regret_bits"], -MOST_BITS, MOST_BITS)
        gained = _estimate(part["accuracy"] - reference["accuracy"], -1.0, 1.0)
        rows.append(
            {
                "rule": setting.rule,
                "setting": setting.name,
                "samples": part["samples"].mean(),
                "share": part["samples"].mean() / reference["samples"].mean(),
                "stages": part["stages"].mean(),
                "regret_bits": regret.value,
                "regret_low": regret.low,
                "regret_high": regret.high,
                "more_than_uniform_bits": difference.value,
                "more_low": difference.low,
                "more_high": difference.high,
                "accuracy": part["accuracy"].mean(),
                "gained": gained.value,
                "gained_low": gained.low,
                "gained_high": gained.high,
                "missed": part["missed"].mean(),
                "optimism_bits": part["optimism_bits"].mean(),
            }
        )
    return pd.DataFrame(rows)


def _estimate(values: "pd.Series[float]", low: float, high: float) -> Estimate:
    """Of values in [low, high]; not a number where one of them is none."""
    if values.isna().any():
        return Estimate(np.nan, np.nan, np.nan, None)
    by_race = {(str(key), int(i)): float(value) for (key, i), value in values.items()}  # type: ignore[misc]
    return estimate(by_race, (low, high))


def best_within_target(results: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """By rule, the setting of least regret among those within the target; fewer samples in a tie."""
    within = results[(results["share"] <= TARGET_SHARE) & (results["rule"] != "uniform")]
    ordered = within.assign(rounded=within["regret_bits"].round(4)).sort_values(
        ["rounded", "samples"], kind="stable"
    )
    return {str(rule): part.iloc[0].to_dict() for rule, part in ordered.groupby("rule", sort=False)}


def verdict(results: pd.DataFrame) -> str:
    """The settings that the stated rule takes for defaults."""
    lines = [
        "Defaults by the rule: least mean regret among settings that sample at most a third of uniform m = "
        "16; fewer samples in a tie (regret rounded to 0.0001 bits)."
    ]
    found = best_within_target(results)
    lines += [
        f"- {rule}: {row['setting']}: {row['regret_bits']:.4f} bits at {100 * row['share']:.0f}% of the "
        f"samples, {_difference(row)} against m = 16"
        for rule, row in found.items()
    ]
    return "\n".join(lines if found else [*lines, "- no setting samples so few"])


def shown(results: pd.DataFrame) -> str:
    """The table for readers."""
    sizes = ["rule", "setting", "samples", "of m=16", "stages", "regret (bits)", "minus m=16", "missed"]
    header = [*sizes, "optimism", "accuracy (%)", "minus m=16 (points)"]
    return markdown_table(header, list(_shown_rows(results)))


def _shown_rows(results: pd.DataFrame) -> Iterator[list[str]]:
    for row in results.to_dict("records"):
        yield [
            str(row["rule"]),
            str(row["setting"]),
            f"{row['samples']:.1f}",
            f"{100 * row['share']:.0f}%",
            f"{row['stages']:.1f}",
            f"{row['regret_bits']:.4f} [{row['regret_low']:.4f}, {row['regret_high']:.4f}]",
            _difference(row),
            f"{100 * row['missed']:.0f}%",
            f"{row['optimism_bits']:+.3f}",
            *_shown_accuracy(row),
        ]


def _shown_accuracy(row: Mapping[Any, Any]) -> list[str]:
    """Accuracy and its difference to uniform m = 16; empty where nothing is known to be right."""
    if np.isnan(row["accuracy"]):
        return ["", ""]
    value, low, high = (100 * row[name] for name in ("gained", "gained_low", "gained_high"))
    return [f"{100 * row['accuracy']:.2f}", f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"]


def _difference(row: Mapping[Any, Any]) -> str:
    return f"{row['more_than_uniform_bits']:+.4f} [{row['more_low']:+.4f}, {row['more_high']:+.4f}]"


def draw(results: pd.DataFrame) -> Figure:
    """Mean regret against mean samples of a round, a colour a rule; the dashed line is the target."""
    figure = new_figure(5.6, 3.6)
    axes = figure.subplots()
    for rule, part in results.groupby("rule", sort=False):
        style = "o-" if rule == "uniform" else "o"
        shade = COLOURS[str(rule)]
        axes.plot(part["samples"], part["regret_bits"], style, label=rule, color=shade, markersize=4)
    full = results[(results["rule"] == "uniform") & (results["setting"] == f"m={BUDGET}")]["samples"].iloc[0]
    axes.axvline(full * TARGET_SHARE, color="#999999", linestyle="--", linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("look-aheads of a round")
    axes.set_ylabel("regret of the choice (bits)")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
