"""The table of docs/reliability.md, each row written by the test that found it.

python -m tests.reliability [PYTEST ARGUMENTS]    runs those tests and replaces the rows that they report

Rows of tests that did not run stay. A test reports by `report_row`; run alone, it prints its row.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- begin: python -m tests.reliability -->", "<!-- end: python -m tests.reliability -->"
HEAD = "| what | how often | found | test | date |\n|---|---|---|---|---|"
ROWS_FILE = "ICPO_RELIABILITY_ROWS"


def report_row(what: str, how_often: str, found: str) -> None:
    """Prints a row of the table and, under the command above, stores it."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "?").partition("[")[0].partition(" (")[0]
    cells = [what, how_often, found, f'`pytest -m "" {test}`', time.strftime("%d %B %Y").lstrip("0")]
    row = "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    print(row)
    if path := os.environ.get(ROWS_FILE):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps([what, row]) + "\n")


def with_rows(page: str, new: dict[str, str]) -> str:
    """The page with these rows, by what they are about, in the order of the page; new ones last."""
    before, _, rest = page.partition(BEGIN)
    old, _, after = rest.partition(END)
    rows = {row.split(" | ")[0].removeprefix("| "): row for row in old.strip().splitlines()[2:]}
    table = "\n".join([HEAD, *(rows | new).values()])
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> int:
    """Runs pytest and rewrites the table; the exit status is pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        path.touch()
        arguments = sys.argv[1:] or ["tests/store", "tests/faults"]
        marks = ["-m", "slow or not slow"] if "-m" not in arguments else []
        command = [sys.executable, "-m", "pytest", *arguments, *marks]
        status = subprocess.run(command, env=os.environ | {ROWS_FILE: str(path)}).returncode
        rows = dict(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
    PAGE.write_text(with_rows(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    print(f"{len(rows)} rows of {PAGE}")
    return status


if __name__ == "__main__":
    sys.exit(main())
