"""MCTSr with 3 children an answer against the stored 2.

python experiments/baselines/compare_children.py RUN ... [--outputs FOLDER]

Reads the cells of the runs and results.csv beside it. The stored side has no scores of questions, so
differences are unpaired: their half-width is the root of the sum of both squared, which is too wide, as
questions and seeds are the same.
"""

import sys
from pathlib import Path

import pandas as pd
from make_table import read_costs

from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.report.text import markdown_table
from icpo.store import run_cells

HERE = Path(__file__).parent


@ends_in_a_line
def main() -> None:
    """Prints one row a level and number of rollouts."""
    args = run_parser(__doc__).parse_args()
    cells = [cell for name in args.run_names for cell in run_cells(args.outputs, name)]
    three, two = read_costs(cells), pd.read_csv(HERE / "results.csv")
    both = three.merge(two, on=["benchmark", "label"], suffixes=("", "_two"))
    rows = [[row["benchmark"], row["label"], *_texts(row)] for row in both.to_dict("records")]
    header = [
        "benchmark",
        "arm",
        "3 children (%)",
        "2 children (%)",
        "difference (points)",
        "tokens, one answer, 3 / 2",
    ]
    sys.stdout.write(markdown_table(header, rows) + "\n")


def _texts(row: dict[str, float]) -> list[str]:
    widths = [(row[f"high{end}"] - row[f"low{end}"]) / 2 for end in ("", "_two")]
    gain, width = row["mean"] - row["mean_two"], sum(w**2 for w in widths) ** 0.5
    shown = [
        f"{100 * row[f'mean{end}']:.1f} [{100 * row[f'low{end}']:.1f}, {100 * row[f'high{end}']:.1f}]"
        for end in ("", "_two")
    ]
    tokens = f"{row['tokens_per_answer']:,.0f} / {row['tokens_per_answer_two']:,.0f}"
    return [*shown, f"{100 * gain:+.1f} [{100 * (gain - width):+.1f}, {100 * (gain + width):+.1f}]", tokens]


if __name__ == "__main__":
    main()
