"""`icpo list`: presets, groups with their choices, and stored runs."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from icpo.cli.output import without_traceback
from icpo.config import help_text
from icpo.errors import RecordsError
from icpo.safe_text import escaped
from icpo.store import read_status, run_cells


@without_traceback()
def main(arguments: Sequence[str] | None = None) -> int:
    """Print presets, groups with their choices, and stored runs. Exit status 0."""
    parser = argparse.ArgumentParser(prog="icpo list", description=main.__doc__)
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where runs are (%(default)s)")
    options = parser.parse_args(arguments)
    runs = list(stored_runs(options.outputs))
    print(help_text())
    print(f"\nRuns in {options.outputs}", *(f"  {line}" for line in runs or ["none"]), sep="\n")
    return 0


def stored_runs(outputs: Path) -> Iterator[str]:
    """A line for each stored run: its name and its cells' states."""
    for folder in sorted(path for path in outputs.glob("*") if path.is_dir()):
        if cells := run_cells(outputs, folder.name):
            states = Counter(map(_state, cells))
            yield escaped(f"{folder.name}: " + ", ".join(f"{n} {state}" for state, n in states.items()))


def _state(cell: Path) -> str:
    try:
        return str((read_status(cell) or {}).get("state", "unknown"))
    except RecordsError:
        return "damaged"


if __name__ == "__main__":
    sys.exit(main())
