"""`python -m icpo.status RUN_NAME`: how far a run's cells are."""

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from icpo.cli.output import without_traceback
from icpo.errors import IcpoError, RecordsError
from icpo.evaluation.progress import clock_text
from icpo.safe_text import escaped, log_to_terminal
from icpo.store import planned_cells, read_finished, read_status, run_cells

COLUMNS = ("cell", "state", "questions", "tokens", "worked", "left", "reason")
DAMAGED = "damaged"
LOG_NAME = "run.log"
NUM_REASON_LETTERS = 100
logger = logging.getLogger("icpo")


@without_traceback()
def main(arguments: Sequence[str] | None = None) -> int:
    """Print how far each cell of a run is.

    Exit status: 0 when all cells are done, 1 when some are not, 2 when there is no such run.
    """
    parser = argparse.ArgumentParser(prog="python -m icpo.status", description=main.__doc__)
    parser.add_argument("run_name", help="a folder of outputs/, e.g. quickstart")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs are")
    options = parser.parse_args(arguments)
    log_to_terminal()
    try:
        rows = run_status(options.outputs, options.run_name)
    except IcpoError as error:
        logger.error("%s", error)
        return 2
    print(escaped("\n".join(_aligned([COLUMNS, *map(_shown, rows)]))))
    states = [row["state"] for row in rows]
    print(", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)))
    return 0 if set(states) == {"done"} else 1


def run_status(outputs: Path, run_name: str) -> list[dict[str, Any]]:
    """One row per cell, begun or planned, from its status.json.

    The state is `missing` where there is none. `log` is the path of the cell's log, which may not be there.

    Raises:
        RecordsError: there is no such run.
    """
    run = outputs / run_name
    cells = sorted({*planned_cells(run), *run_cells(outputs, run_name)})
    if not cells:
        known = sorted(path.name for path in outputs.glob("*/") if run_cells(outputs, path.name))
        raise RecordsError(f"{run} holds no cells. Runs there: {', '.join(known) or 'none'}.")
    return [
        {"cell": cell.name, "state": "missing", "log": cell / LOG_NAME} | _status_of(cell) for cell in cells
    ]


def _status_of(cell: Path) -> dict[str, Any]:
    """What its status.json says, if anything; damaged files of one cell do not hide the others."""
    try:
        status = read_status(cell) or {}
        if status.get("state") == "done":
            read_finished(cell, status)
        return status
    except RecordsError as error:
        return {"state": DAMAGED, "reason": str(error)}


def seconds_left(row: dict[str, Any]) -> float | None:
    """Seconds a running cell still needs; None where unknown."""
    done, total = row.get("questions_done"), row.get("questions_total")
    if row["state"] != "running" or not done or total is None:
        return None
    return float(row.get("wall_seconds", 0)) / int(done) * (int(total) - int(done))


def _shown(row: dict[str, Any]) -> Sequence[str]:
    done, total = row.get("questions_done"), row.get("questions_total")
    return [
        row["cell"],
        row["state"],
        "" if total is None else f"{done}/{total}",
        f"{row['generated_tokens']:,}" if "generated_tokens" in row else "",
        clock_text(row.get("wall_seconds")),
        clock_text(seconds_left(row)),
        _reason(row),
    ]


def _reason(row: dict[str, Any]) -> str:
    """Why a cell stopped, in a line; of a failure also where its log is."""
    reason = (row.get("reason") or "").partition("\n")[0]
    if row["state"] == DAMAGED:
        return reason
    has_log = row["state"] == "failed" and row["log"].is_file()
    return reason[:NUM_REASON_LETTERS] + (f" ({row['log']})" if has_log else "")


def _aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


if __name__ == "__main__":
    sys.exit(main())
