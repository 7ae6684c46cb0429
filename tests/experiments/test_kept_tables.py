"""Numbers of the tables in experiments/*/README.md are in the tables kept beside them."""

import re

import pytest

from tests.experiments.scripts import EXPERIMENTS

NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*")
NO_TABLES_KEPT = ("throughput",)  # made of CSV and of printed times
SETTINGS, PAPER = "settings, no results", "the paper"
KEPT_AS = {  # page: how the head of a table begins that no .md file holds, and what does
    "backbones": {"| | base, Mean@16": "results/nano.csv"},
    "baselines": {
        "| baseline | one answer (69,779": "matched.csv",  # here and below several rows side by side
        "| arm | Mean@16 on levels 3 / 4": "results.csv",
        "| | n = 4 |": "verdicts.csv",
        "| baseline | n1, k4, m4": "flops.csv",
        "| benchmark | rollouts | 3 children": "results of `compare_children.py`, not kept",
    },
    "controls": {"| arm (`arm=`) | what is changed": SETTINGS},
    "detectable": {
        "| runs | benchmark": "the cells of the runs named there",
        "| ME-ICPO minus": PAPER,
    },
    "grading": {"| what | command | time": "times, not kept"},
    "nano": {
        "| model | command": SETTINGS,
        "| | direct, Mean@16": "results/nano_scores.json",
        "| model | context | 1 idea": "results/nano_scores.json",
        "|  | l1 | l2 | l3": "results/nano_tables_gains.md",  # and others, row by row
        "| trial | training": "trials whose files were not kept",
        "| model | what distinguishes": SETTINGS,
        "| model | no idea": "results/recipe_coin.json",  # and the others
        "| preset | what": SETTINGS,
    },
    "policy_matching": {"| figure | what it shows": SETTINGS},
    "racing": {
        "| arm (`arm=`) | what": SETTINGS,
        "| rule | setting": "results/reference.csv",
        "| level | ideas": "results/agreement.md",
        "| arm | tokens a question": "results/arms.csv",  # and results/one_core.csv
        "| arm | generated tokens": "results/arms.csv",
    },
    "ttrl": {"| what | Zuo et al.": SETTINGS},
}


def tables(text):
    """Each table as its lines, the head first and no rule."""
    found = re.findall(r"(?:^\|.*\n?)+", text, re.M)
    return [[line for line in table.splitlines() if set(line) - set("|-: ")] for table in found]


def numbers(row):
    return [number.rstrip(",.").removeprefix("+") for number in NUMBER.findall(row)]


def has_in_order(row, wanted):
    """Whether a row's numbers hold the wanted ones, in their order."""
    left = iter(row)
    return all(number in left for number in wanted)


def not_kept(folder):
    """The heads of a page's tables with a row whose numbers are in no row of a kept table."""
    kept = [
        numbers(row)
        for path in folder.rglob("*.md")
        if path.name != "README.md"
        for _, *rows in tables(path.read_text(encoding="utf-8"))
        for row in rows
    ]
    page = (folder / "README.md").read_text(encoding="utf-8")
    return [
        head
        for head, *rows in tables(page)
        if not all(any(has_in_order(other, numbers(row)) for other in kept) for row in rows if numbers(row))
    ]


@pytest.mark.parametrize(
    "page", sorted({path.parent.name for path in EXPERIMENTS.glob("*/README.md")}.difference(NO_TABLES_KEPT))
)
def test_the_numbers_of_a_page_s_tables_are_kept_beside_it(page):
    folder, excepted = EXPERIMENTS / page, KEPT_AS.get(page, {})
    found = not_kept(folder)
    assert [head for head in found if not head.startswith(tuple(excepted))] == []
    for beginning, source in excepted.items():
        assert any(head.startswith(beginning) for head in found), beginning
        assert " " in source or (folder / source).is_file(), source


def test_a_number_that_is_not_kept_is_found(tmp_path):
    (tmp_path / "table.md").write_text("| arm | score |\n| --- | ---: |\n| base | +46.0 [-1, 3,200] |\n")
    for score, expected in (("46.0 [-1, 3,200]", []), ("46.1", ["| a |"]), ("46.0 of 60", ["| a |"])):
        (tmp_path / "README.md").write_text(f"| a |\n|---|\n| base {score} |\n")
        assert not_kept(tmp_path) == expected
