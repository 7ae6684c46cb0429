"""The smallest differences that a paired test finds.

python experiments/detectable/make_table.py [RUN ...] [--paper] [--outputs FOLDER]

From the stored scores of questions: two arms of one benchmark answer the same questions under the same
seeds. With Q questions the difference d of two means has a standard error sd / sqrt(Q), where sd is the
standard deviation over questions of their paired difference (each a mean over the seeds). A two-sided test
at 5% finds d with 80% power if d = (z_.975 + z_.8) sd / sqrt(Q) (Cohen 1988, section 2.2; a normal
approximation). sd holds both what questions gain unequally and what sampling adds at these seeds and this k.

With --paper: the differences in Mean@16 that the paper reports on AIME, and the sd up to which 30 questions
find each.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from icpo.lab.scripts.command_line import ends_in_a_line
from icpo.report import question_frame
from icpo.report.paper import paper_numbers
from icpo.report.text import markdown_table

ALPHA, POWER = 0.05, 0.8
AIME = 30
KEYS = ["benchmark", "backbone"]


@ends_in_a_line
def main() -> None:
    """Prints a row for each benchmark, number of seeds and k."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run_names", nargs="*")
    parser.add_argument("--paper", action="store_true", help="the paper's differences on AIME instead")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    args = parser.parse_args()
    if args.paper:
        header = ["backbone", "benchmark", "ME-ICPO minus", "points", "found up to sd (points)"]
        sys.stdout.write(markdown_table(header, list(paper_rows())) + "\n")
        return
    rows = list(rows_of(question_frame(*args.run_names, outputs=args.outputs)))
    if not rows:
        raise SystemExit("No two cells of these runs answer one benchmark under the same seeds with one k.")
    header = ["backbone", "benchmark", "seeds", "k", "questions", "pairs of arms", "sd (points)",
              "detectable (points)", f"detectable with {AIME} questions"]  # fmt: skip
    sys.stdout.write(markdown_table(header, rows) + "\n")


def detectable(sd: float, num_questions: int) -> float:
    """The smallest mean paired difference found with 80% power at 5%, in the unit of `sd`."""
    return float((norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)) * sd / np.sqrt(num_questions))


def rows_of(frame: pd.DataFrame) -> Iterator[list[str]]:
    """For each benchmark, seeds and k: the median over pairs of arms, and their range."""
    for (benchmark, backbone), part in frame.groupby(KEYS, sort=True):
        for k, same in part.groupby("k"):
            for num_seeds in sorted({1, same["seed"].nunique()}):
                kept = same[same["seed"].isin(sorted(same["seed"].unique())[:num_seeds])]
                sds, num_questions = pair_sds(kept)
                if len(sds):
                    yield [str(backbone), str(benchmark), str(num_seeds), str(k), str(num_questions),
                           str(len(sds)), _span(sds), _span([detectable(sd, num_questions) for sd in sds]),
                           _span([detectable(sd, AIME) for sd in sds])]  # fmt: skip


def pair_sds(rows: pd.DataFrame) -> tuple[list[float], int]:
    """The sd of paired differences of every two arms, and the number of questions."""
    arms = {
        key: part.groupby("question_id")["mean_at_k"].mean()
        for key, part in rows.groupby(["run", "cell", "num_rounds"], dropna=False)
    }
    differences = [(arms[a] - arms[b]).dropna() for a, b in combinations(arms, 2)]
    return [float(d.std()) for d in differences if len(d) > 1], rows["question_id"].nunique()


def paper_rows() -> Iterator[list[str]]:
    """ME-ICPO minus each other arm of the paper on AIME, and the largest sd that 30 questions allow."""
    numbers = paper_numbers()
    own = numbers[numbers["benchmark"].str.startswith("aime") & (numbers["metric"] == "mean_at_k")]
    for (backbone, benchmark), part in own.groupby(["backbone", "benchmark"], sort=False):
        part = part.drop_duplicates(["method", "reward", "selector", "num_rounds", "num_candidates"])
        is_full = (
            (part["method"] == "me_icpo") & (part["reward"] == "majority") & (part["selector"] == "entropy")
        )
        for full in part[is_full].to_dict("records"):
            for row in part[~is_full].to_dict("records"):
                gain = full["value"] - row["value"]
                name = "-".join(str(row[key]) for key in ("method", "reward", "selector") if row[key])
                most = abs(gain) / detectable(1.0, AIME)
                yield [str(backbone), str(benchmark), name, f"{100 * gain:+.1f}", f"{100 * most:.0f}"]


def _span(values: list[float]) -> str:
    low, middle, high = (100 * value for value in (min(values), float(np.median(values)), max(values)))
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


if __name__ == "__main__":
    main()
