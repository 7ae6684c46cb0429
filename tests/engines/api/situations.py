"""What real servers do to their clients, played on loopback: `--write` puts the table into docs.

python -m tests.engines.api.situations --write
"""

import sys
from pathlib import Path

from tests.engines.api.cases import connections, contents, fields, lengths, refusals, replies, streams
from tests.engines.api.playing import play

PAGE = Path(__file__).parents[3] / "docs/reliability.md"
BEGIN, END = "<!-- situations -->", "<!-- end of situations -->"
SITUATIONS = [
    situation
    for family in (replies, contents, refusals, lengths, connections, streams, fields)
    for situation in family.SITUATIONS
]


def table(played) -> str:
    lines = [f"| {situation.name} | {calls} | {outcome} |" for situation, (calls, outcome) in played]
    return "\n".join(["| situation | calls | outcome |", "|---|---|---|", *lines])


def written(page: str, played) -> str:
    """The page with its table replaced."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table(played)}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    played = [(situation, play(situation)) for situation in SITUATIONS]
    if "--write" in sys.argv:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), played), encoding="utf-8")
    print(table(played))
