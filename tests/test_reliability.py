"""The table of docs/reliability.md keeps the rows of tests that did not run and replaces the others."""

from tests.reliability import BEGIN, END, HEAD, PAGE, with_rows


def test_rows_are_replaced_by_what_they_are_about():
    page = f"before\n{BEGIN}\n{HEAD}\n| a | 1 |\n| b | 2 |\n{END}\nafter"
    assert with_rows(page, {"b": "| b | 3 |", "c": "| c | 4 |"}) == (
        f"before\n{BEGIN}\n{HEAD}\n| a | 1 |\n| b | 3 |\n| c | 4 |\n{END}\nafter"
    )


def test_the_page_has_the_table():
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(BEGIN) == page.count(END) == 1 and HEAD in page
