"""The settings of least regret over several simulated sets of rounds: defaults.py SIMULATION.csv ...

A default serves backbones whose ideas repeat and backbones whose ideas all differ, so a setting must sample
at most a third of uniform m = 16 on each set; its regret is the mean over the sets.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from simulate import best_within_target

KEYS = ["rule", "setting"]


def main() -> None:
    """Command line: the best setting of each rule, with its share of samples and regret on each set."""
    paths = [Path(text) for text in sys.argv[1:]]
    if not paths:
        raise SystemExit(__doc__)
    sets = [pd.read_csv(path) for path in paths]
    for rule, best in best_within_target(joint(sets)).items():
        sys.stdout.write(f"{rule}: {best['setting']}\n")
        for path, results in zip(paths, sets, strict=True):
            own = results.set_index(KEYS).loc[(rule, best["setting"])]
            sys.stdout.write(
                f"  {path.stem}: {own['regret_bits']:.4f} bits, {100 * own['share']:.0f}% of samples\n"
            )


def joint(sets: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One row a setting: its largest share of samples, its mean samples and regret."""
    rows = pd.concat([results.set_index(KEYS)[["share", "samples", "regret_bits"]] for results in sets])
    means = {"share": "max", "samples": "mean", "regret_bits": "mean"}
    found: pd.DataFrame = rows.groupby(level=KEYS, sort=False).agg(means).reset_index()
    return found


if __name__ == "__main__":
    main()
