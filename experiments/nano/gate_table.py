"""The gate as Markdown, from what +exp=train_nano leaves: gate_table.py NAME=CELL/scores.json ..."""

import json
import sys
from pathlib import Path

from icpo.nano.examples import MAX_IDEAS
from icpo.nano.gate import Context
from icpo.reporting.markdown import table

TITLES = {
    Context.RIGHT_TAGGED_1: "right ideas tagged 1",
    Context.WRONG_TAGGED_0: "wrong ideas tagged 0",
    Context.WRONG_TAGGED_1: "wrong ideas tagged 1",
    Context.RIGHT_TAGGED_0: "right ideas tagged 0",
    Context.MIXTURE: "a mixture, as in training",
}


def main(arguments: list[str]) -> None:
    """A line a model and context; accuracy in percent by number of ideas."""
    rows = []
    for name, file in (argument.split("=", 1) for argument in arguments):
        scores = json.loads(Path(file).read_text(encoding="utf-8"))
        rows.append([name, "no ideas", f"{100 * scores['gate/none']:.1f}", *[""] * (MAX_IDEAS - 1)])
        for context, title in TITLES.items():
            values = (scores[f"gate/{context.value}/{count}"] for count in range(1, MAX_IDEAS + 1))
            rows.append([name, title, *(f"{100 * value:.1f}" for value in values)])
    header = ["model", "context", "1 idea", *(str(count) for count in range(2, MAX_IDEAS + 1))]
    sys.stdout.write(table(header, rows) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
