"""How well forced answers rank attempts.

python experiments/racing/agreement.py [RUN_NAME] [--forced RUN_NAME] [--outputs FOLDER]

Reads pairs of cells of +exp=racing_reference, one with whole look-aheads and one with forced answers. Ideas
that both have in their first rounds are compared: equal ideas have one prompt, so each has two entropies.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from races import Race, has_forced_answers, idea_of, races_of

from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import estimate
from icpo.metrics.estimates import DIFFERENCE
from icpo.report.text import markdown_table
from icpo.store import load_results, read_metrics, run_cells

HEADER = ["benchmark", "rounds", "ideas of both", "bits, whole", "bits, forced",
          "rank correlation within rounds", "regret, forced", "regret, at random", "same choice",
          "accuracy, whole (%)", "forced minus whole (points)", "tokens, forced : whole"]  # fmt: skip


@ends_in_a_line
def main() -> None:
    """Command line."""
    parser = run_parser(__doc__, "racing_reference")
    parser.add_argument("--forced", help="a further run of forced answers")
    args = parser.parse_args()
    whole = cells_by_benchmark(args.outputs, args.run_name, is_forced=False)
    forced = cells_by_benchmark(args.outputs, args.run_name, is_forced=True)
    if args.forced:
        forced |= cells_by_benchmark(args.outputs, args.forced, is_forced=True)
    benchmarks = sorted(whole.keys() & forced.keys())
    if not benchmarks:
        raise SystemExit(
            f"{args.outputs / args.run_name} holds no pair of cells. "
            "Run python -m icpo.run +exp=racing_reference first."
        )
    rows = [[name, *compared(whole[name], forced[name])] for name in benchmarks]
    text = markdown_table(HEADER, rows)
    report = args.outputs / args.run_name / "report" / "agreement.md"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{text}\n{report}\n")


def cells_by_benchmark(outputs: Path, run_name: str, *, is_forced: bool) -> dict[str, Path]:
    """By benchmark, the measured cell of most look-aheads whose selector samples them for every attempt."""
    found: dict[str, tuple[int, Path]] = {}
    for cell in run_cells(outputs, run_name):
        metrics = read_metrics(cell) or {}
        if metrics.get("selector") == "entropy" and has_forced_answers(cell) is is_forced:
            name, size = str(metrics["benchmark"]), int(metrics["num_lookaheads"])
            found[name] = max(found.get(name, (0, cell)), (size, cell))
    return {name: cell for name, (_, cell) in found.items()}


def compared(whole: Path, forced: Path) -> list[str]:
    """The columns of HEADER after the first, over the first rounds that both cells have."""
    pairs = list(shared_rounds(races_of(whole), races_of(forced)))
    names = [race.question for race, _, _ in pairs]
    bits = [(race.bits_A()[own], short) for race, own, short in pairs]
    correlations = [c for full, short in bits if not np.isnan(c := rank_correlation(full, short))]
    picks = [(int(np.argmin(full)), int(np.argmin(short))) for full, short in bits]
    regrets = [full[pick] - full.min() for (full, _), (_, pick) in zip(bits, picks, strict=True)]
    accuracies = [race.accuracy_A[own][list(pick)] for (race, own, _), pick in zip(pairs, picks, strict=True)]
    gained = estimate(
        {(name, i): float(b - a) for i, (name, (a, b)) in enumerate(zip(names, accuracies, strict=True))},
        DIFFERENCE,
    )
    return [
        str(len(bits)),
        str(sum(len(full) for full, _ in bits)),
        f"{np.mean(np.concatenate([full for full, _ in bits])):.3f}",
        f"{np.mean(np.concatenate([short for _, short in bits])):.3f}",
        f"{np.mean(correlations):+.2f} ({len(correlations)} rounds)" if correlations else "no round differs",
        f"{np.mean(regrets):.4f}",
        f"{np.mean([full.mean() - full.min() for full, _ in bits]):.4f}",
        f"{100 * np.mean([regret < 1e-9 for regret in regrets]):.0f}%",
        f"{100 * np.mean([full for full, _ in accuracies]):.1f}",
        f"{100 * gained.value:+.2f} [{100 * gained.low:+.2f}, {100 * gained.high:+.2f}]",
        f"{tokens_per_lookahead(forced) / tokens_per_lookahead(whole):.2f}",
    ]


def shared_rounds(
    whole: Iterable[Race], forced: Iterable[Race]
) -> Iterator[tuple[Race, list[int], NDArray[np.float64]]]:
    """First rounds of both: the whole one, its ideas that the other has too, and their forced entropies."""
    short = {(race.question, race.seed): race for race in forced if race.round == 0}
    for race in whole:
        other = short.get((race.question, race.seed))
        if race.round or other is None:
            continue
        bits = dict(zip(map(idea_of, other.attempts), other.bits_A(), strict=True))
        firsts = {idea_of(attempt): i for i, attempt in reversed(list(enumerate(race.attempts)))}
        own = sorted(i for idea, i in firsts.items() if idea in bits)
        if own:
            yield race, own, np.array([bits[idea_of(race.attempts[i])] for i in own])


def rank_correlation(full: np.ndarray, short: np.ndarray) -> float:
    """Spearman's; not a number where one of the two does not vary."""
    if np.ptp(full) < 1e-9 or np.ptp(short) < 1e-9:
        return float("nan")
    ranks: Sequence[Any] = [pd.Series(values.round(9)).rank() for values in (full, short)]
    return float(np.corrcoef(*ranks)[0, 1])


def tokens_per_lookahead(cell: Path) -> float:
    """Generated tokens of a look-ahead, in the mean."""
    results = load_results(cell)
    num_tokens = sum(one.usage.generated_by_purpose.get("lookahead", 0) for one in results)
    votes = [x.votes for one in results for round_ in one.rounds for x in round_.lookaheads]
    return num_tokens / sum(one.num_answered + one.num_abstained for one in votes)


if __name__ == "__main__":
    main()
