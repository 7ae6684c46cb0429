"""One table of the verdicts of all theory experiments."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from icpo.errors import RecordsError

EXPERIMENTS = (
    "policy_matching",
    "reward_shock",
    "kl_sandwich",
    "finite_sample",
    "convergence",
    "bandit_regret",
)
COLUMNS = ("experiment", "source", "claim", "verdict", "evidence")
CLAIM_KEYS = ("source", "statement", "verdict", "evidence")
PIPED_WIDTH = 160
WRITE_COMMAND = "python -m icpo.lab.theory.verdicts --write experiments"


def verdict_rows(outputs: Path) -> list[tuple[str, ...]]:
    """A row for each claim of each experiment.

    In the order of `COLUMNS`; one that was not run says so.

    Raises:
        RecordsError: none of the experiments has metrics under `outputs`, or one has no claims.
    """
    rows: list[tuple[str, ...]] = []
    for name in EXPERIMENTS:
        claims = _claims(outputs / name / name / "metrics.json")
        if claims is None:
            rows.append((name, "", "", "not run", f"python -m icpo.run +exp={name}"))
        else:
            rows += [(name, *(claim[key] for key in CLAIM_KEYS)) for claim in claims]
    if all(row[3] == "not run" for row in rows):
        raise RecordsError(
            f"No theory experiment has metrics under {outputs}. Run them all with make theory, "
            "or one with python -m icpo.run +exp=policy_matching."
        )
    return rows


def _claims(path: Path) -> list[dict[str, str]] | None:
    if not path.is_file():
        return None
    metrics: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "claims" not in metrics:
        raise RecordsError(
            f"{path} has no claims. It is not from a theory experiment; remove it and run again."
        )
    claims: list[dict[str, str]] = metrics["claims"]
    return claims


def verdict_table(rows: Sequence[tuple[str, ...]]) -> Table:
    """The rows as a table with a line between experiments."""
    table = Table(*COLUMNS, title="Theory: verdicts, each computed by its experiment")
    for row, following in zip(rows, [*rows[1:], ("",)], strict=True):
        table.add_row(*row, end_section=row[0] != following[0])
    return table


def write_verdicts(rows: Sequence[tuple[str, ...]], experiments: Path) -> None:
    """Writes experiments/NAME/verdicts.md for each experiment that was run."""
    for name in EXPERIMENTS:
        own = [row[1:] for row in rows if row[0] == name and row[3] != "not run"]
        if own:
            lines = [f"<!-- python -m icpo.run +exp={name}, then {WRITE_COMMAND} -->", ""]
            lines += [_line(COLUMNS[1:]), _line(["---"] * len(COLUMNS[1:])), *map(_line, own), ""]
            (experiments / name / "verdicts.md").write_text("\n".join(lines), encoding="utf-8")


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"


def main() -> None:
    """Print the table of an outputs folder; with --write, store it too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("outputs", type=Path, nargs="?", default=Path("outputs"), help="where the runs are")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write FOLDER/NAME/verdicts.md as well")
    arguments = parser.parse_args()
    rows = verdict_rows(arguments.outputs)
    console = Console()
    Console(width=console.width if console.is_terminal else PIPED_WIDTH).print(
        verdict_table(rows), markup=False
    )
    if arguments.write:
        write_verdicts(rows, arguments.write)


if __name__ == "__main__":
    main()
