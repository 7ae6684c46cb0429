"""The front page quotes the quickstart's first table as it is kept, and stays short."""

import re

from tests.experiments.scripts import EXPERIMENTS

README = (EXPERIMENTS.parent / "README.md").read_text(encoding="utf-8")


def lines(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_quickstart_s_first_table_is_the_one_kept():
    kept = (EXPERIMENTS / "main_table/results/quickstart.md").read_text(encoding="utf-8")
    [quoted] = re.findall(r"<!-- quickstart:begin -->(.*)<!-- quickstart:end -->", README, re.S)
    [measured] = re.findall(r"## nano, protocol quick\n(.*?)###", kept, re.S)
    assert len(lines(measured)) == 2 + 6 * 3
    assert lines(quoted) == lines(measured)


def test_self_consistency_takes_as_many_tokens_as_the_method():
    [quoted] = re.findall(r"<!-- quickstart:begin -->(.*)<!-- quickstart:end -->", README, re.S)
    times = {}
    for line in lines(quoted)[2:]:
        benchmark, arm, *_, ratio = (cell.strip() for cell in line.strip("|").split("|"))
        times[benchmark, arm] = float(ratio)
    for benchmark in {benchmark for benchmark, _ in times}:
        ours, votes = times[benchmark, "ME-ICPO"], times[benchmark, "self-consistency"]
        assert abs(votes / ours - 1) < 0.03, benchmark


def test_the_front_page_stays_short():
    assert len(README.splitlines()) <= 150 and len(README) <= 12_000
