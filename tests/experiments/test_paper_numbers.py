"""The statements of docs/paper_notes.md about the paper's numbers."""

import pytest

from tests.experiments.scripts import load

check = load("paper_numbers/check")
NUMBERS = check.read_numbers()


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        (check.means_lie_on_a_single_run_s_grid, ["26 of the 28"]),
        (check.math_average_is_unweighted, ["54.71 of", "(54.71)", "52.30"]),
        (check.accuracy_and_mean_disagree_on_math, ["within 0.37", "20 of 20", "4.1 to 9.6"]),
        (check.majority_voting_is_not_passed_by_the_7b_model, ["2 of 3", "30.4 against 33.3"]),
        (check.harder_tables_fit_sizes, ["apex of qwen2.5-math-7b [49]", "apex of gemini-2.5-flash none"]),
        (check.costs_grow_slower_than_linearly, ["0.73 to 0.89"]),
    ],
)
def test_statements_say_what_the_numbers_say(statement, parts):
    text = statement(NUMBERS)
    assert [part for part in parts if part not in text] == []


def test_every_statement_is_printed(capsys):
    check.main()
    assert len(capsys.readouterr().out.splitlines()) == len(check.STATEMENTS)


@pytest.mark.parametrize(
    ("percent", "num_answers", "is_on"),
    [(50.0, 2, True), (33.33, 3, True), (33.34, 3, False), (11.04, 480, True)],
)
def test_grid(percent, num_answers, is_on):
    assert check.on_grid(percent, num_answers) is is_on


def test_tail_probability_by_hand():
    assert check.tail_probability([0.5, 0.5], 1) == pytest.approx(0.75)
    assert check.tail_probability([0.25, 0.5], 2) == pytest.approx(0.125)
