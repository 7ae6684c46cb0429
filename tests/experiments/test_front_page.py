"""The front page quotes the quickstart's table as it is kept."""

import re

from tests.experiments.scripts import EXPERIMENTS


def lines(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_quickstart_s_table_is_the_one_kept():
    readme = (EXPERIMENTS.parent / "README.md").read_text(encoding="utf-8")
    kept = (EXPERIMENTS / "main_table/results/quickstart.md").read_text(encoding="utf-8")
    [quoted] = re.findall(r"<!-- quickstart:begin -->(.*)<!-- quickstart:end -->", readme, re.S)
    [measured] = re.findall(r"### Mean@16\n(.*?)###", kept, re.S)
    assert len(lines(measured)) == 5
    assert lines(quoted) == lines(measured)
