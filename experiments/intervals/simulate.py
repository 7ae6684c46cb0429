"""Coverage of the reports' 95% intervals: python experiments/intervals/simulate.py [--runs N].

Writes coverage.csv and coverage.md beside this file: a line for each kind of data and number of questions n,
a column for each true mean p. A question has its own probability of a right answer, from a Beta distribution
with mean p whose spread is the correlation of its 16 answers (0: all questions alike, 1: each is always right
or always wrong). Differences are of two arms that answer the same questions and differ on a share 1 - p of
them, gaining twice as many as they lose. `bootstrap` is the percentile bootstrap over questions.
"""

import argparse
import sys
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from icpo.metrics.estimates import DIFFERENCE, SHARE, mean_interval
from icpo.report.text import markdown_table

HERE = Path(__file__).parent
SIZES = (5, 10, 20, 30, 50, 100, 200)
MEANS = (0.5, 0.7, 0.9, 0.95, 0.97, 0.99)
CORRELATIONS = (0.0, 0.1, 0.3, 0.6, 0.9, 1.0)
NUM_ANSWERS = 16
NUM_RESAMPLES = 500
Array = NDArray[np.float64]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000, help="simulated runs a cell (%(default)s)")
    runs: int = parser.parse_args().runs
    rows = pd.DataFrame(simulate(runs))
    rows.to_csv(HERE / "coverage.csv", index=False, lineterminator="\n")
    least = (100 * rows[name].min() for name in ("coverage", "bootstrap"))
    parts = [
        f"Share of {runs:,} simulated runs whose 95% interval holds the true mean, in percent; in "
        f"brackets that of the percentile bootstrap ({NUM_RESAMPLES} resamples, {runs // 20:,} runs). "
        f"Least of all cells: {next(least):.1f} ({next(least):.1f})."
    ]
    for kind, part in rows.groupby("kind", sort=False):
        header = [str(kind), *(f"p = {p}" for p in MEANS)]
        shown = part.assign(text=[_text(row) for row in part.to_dict("records")])
        body = [[f"n = {n}", *own["text"]] for n, own in shown.groupby("n")]
        parts.append(markdown_table(header, body))
    text = "\n\n".join(parts) + "\n"
    (HERE / "coverage.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def _text(row: Mapping[Hashable, Any]) -> str:
    return f"{100 * row['coverage']:.1f} ({100 * row['bootstrap']:.1f})"


def simulate(runs: int) -> Iterator[dict[str, Any]]:
    """One row a kind of data, size and mean."""
    rng = np.random.default_rng(0)
    for kind in (*CORRELATIONS, "differences"):
        for n in SIZES:
            for p in MEANS:
                if isinstance(kind, float):
                    values, truth, span = scores(rng, (runs, n), p, kind), p, SHARE
                    name = f"scores, correlation {kind}"
                else:
                    values, truth, span = differences(rng, (runs, n), 1 - p), (1 - p) / 3, DIFFERENCE
                    name = "differences, a share 1 - p of questions differs"
                _, low, high = mean_interval(values, np.ones_like(values), span)
                few = values[: runs // 20]
                yield {
                    "kind": name,
                    "n": n,
                    "p": p,
                    "coverage": covered(low, high, truth),
                    "bootstrap": covered(*bootstrap(rng, few), truth),
                    "width": float((high - low).mean()),
                }


def scores(rng: np.random.Generator, shape: tuple[int, int], p: float, correlation: float) -> Array:
    """Question means of NUM_ANSWERS answers."""
    if correlation == 1:
        return (rng.random(shape) < p).astype(np.float64)
    spread = (1 - correlation) / correlation if correlation else np.inf
    chances = rng.beta(p * spread, (1 - p) * spread, shape) if correlation else np.full(shape, p)
    return rng.binomial(NUM_ANSWERS, chances) / NUM_ANSWERS


def differences(rng: np.random.Generator, shape: tuple[int, int], share: float) -> Array:
    """+1 where the arm alone is right, -1 where the other is, else 0."""
    return rng.choice([1.0, -1.0, 0.0], shape, p=[share * 2 / 3, share / 3, 1 - share])


def covered(low: Array, high: Array, truth: float) -> float:
    """Share of the intervals that hold the truth."""
    return float(((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean())


def bootstrap(rng: np.random.Generator, values: Array) -> tuple[Array, Array]:
    """Percentile bootstrap over questions, one interval a run."""
    n = values.shape[1]
    weights = rng.multinomial(n, np.full(n, 1 / n), size=NUM_RESAMPLES) / n
    low, high = np.quantile(values @ weights.T, [0.025, 0.975], axis=1)
    return low, high


if __name__ == "__main__":
    main()
