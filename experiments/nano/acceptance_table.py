"""The acceptance test as Markdown, from +exp=train_nano: acceptance_table.py NAME=CELL/scores.json ..."""

import json
import sys
from pathlib import Path

from icpo.lab.nano.acceptance import Context
from icpo.lab.nano.examples import MAX_IDEAS
from icpo.report.text import markdown_table as table

TITLES = {
    Context.RIGHT_TAGGED_1: "right ideas tagged 1",
    Context.WRONG_TAGGED_0: "wrong ideas tagged 0",
    Context.WRONG_TAGGED_1: "wrong ideas tagged 1",
    Context.RIGHT_TAGGED_0: "right ideas tagged 0",
    Context.MIXTURE: "a mixture, as in training",
}


def main(arguments: list[str]) -> None:
    """A line a model and context; accuracy in percent by number of ideas."""
    if not arguments:
        raise SystemExit(__doc__)
    rows = [row for argument in arguments for row in rows_of(argument)]
    header = ["model", "context", "1 idea", *(str(count) for count in range(2, MAX_IDEAS + 1))]
    sys.stdout.write(table(header, rows) + "\n")


def rows_of(argument: str) -> list[list[str]]:
    """The rows of one NAME=CELL/scores.json."""
    name, _, file = argument.partition("=")
    try:
        scores = json.loads(Path(file).read_text(encoding="utf-8"))
        rows = [[name, "no ideas", f"{100 * scores['gate/none']:.1f}", *[""] * (MAX_IDEAS - 1)]]
        for context, title in TITLES.items():
            values = (scores[f"gate/{context.value}/{count}"] for count in range(1, MAX_IDEAS + 1))
            rows.append([name, title, *(f"{100 * value:.1f}" for value in values)])
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"{argument} is no NAME=FILE with the scores of a trained nano: {error}") from None
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
