from dataclasses import replace

import numpy as np
import pytest

from icpo.benchmarks import Columns, Item
from icpo.benchmarks.columns import USUAL_WRONG_ANSWERS
from icpo.errors import BenchmarkError

PLAIN = Columns("problem", "answer", "id", "level", (), 0)
GPQA = Columns("Q", "right", "id", None, wrong_answers=("w1", "w2", "w3"), shuffle_seed=7)


def gpqa_rows(count):
    return [
        {"id": f"r{i}", "Q": f"q{i}", "right": "yes\n", "w1": "a", "w2": "b", "w3": "c"} for i in range(count)
    ]


@pytest.mark.parametrize(
    ("row", "item"),
    [
        ({"id": "a", "problem": "p", "answer": "025", "level": 5}, Item("a", "p", "025", 5)),
        ({"id": "a", "problem": "p", "answer": 142.0, "level": "Level 3"}, Item("a", "p", "142.0", 3)),
        ({"id": 60, "problem": "p", "answer": -7, "level": None}, Item("b/60", "p", "-7", None)),
        ({"problem": " p ", "answer": "1"}, Item("b/0", " p ", "1", None)),
        (
            {"id": "../x\n\u202e🙂", "problem": "boxed{7}\0", "answer": "1"},
            Item("../x\n\u202e🙂", "boxed{7}\0", "1"),
        ),
    ],
)
def test_rows_become_items_with_their_text_untouched(row, item):
    assert PLAIN.items([row], "b") == [item]


@pytest.mark.parametrize("answer", [None, "", "  ", float("nan"), True, [], ["1", None]])
def test_a_row_without_a_readable_answer_is_named(answer):
    with pytest.raises(BenchmarkError, match=r"b, row 2 \(b/1\) needs"):
        PLAIN.items([{"problem": "p", "answer": "1"}, {"problem": "p", "answer": answer}], "b")


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [(["4", 2], "4 <or> 2"), (["4", "4"], "4"), (np.array([4, 6]), "4 <or> 6"), (["4"], "4")],
)
def test_several_right_answers_are_kept_as_one_text(answer, wanted):
    [item] = PLAIN.items([{"problem": "p", "answer": answer}], "b")
    assert item.answer == wanted


def test_options_have_one_right_answer():
    row = gpqa_rows(1)[0]
    with pytest.raises(BenchmarkError, match="2 right"):
        GPQA.items([row | {GPQA.answer: ["a", "b"]}], "gpqa")


def test_options_are_shuffled_by_seed_and_id_and_the_letter_follows_the_right_one():
    items = GPQA.items(gpqa_rows(40), "gpqa")
    for item in items:
        lines = item.text.split("\n\n", 1)[1].split("\n")
        assert sorted(line[3:] for line in lines) == ["a", "b", "c", "yes"]
        assert [line[:3] for line in lines] == ["A. ", "B. ", "C. ", "D. "]
        assert lines["ABCD".index(item.answer)] == f"{item.answer}. yes"
    assert {item.answer for item in items} == set("ABCD")
    assert GPQA.items(gpqa_rows(40), "gpqa") == items
    other = Columns(**{name: getattr(GPQA, name) for name in GPQA.__slots__} | {"shuffle_seed": 8})
    assert other.items(gpqa_rows(40), "gpqa") != items


def test_order_of_options_does_not_depend_on_a_question_s_place():
    rows = gpqa_rows(5)
    assert GPQA.items(rows[::-1], "gpqa")[::-1] == GPQA.items(rows, "gpqa")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": "my_questoin"}, "own.csv .*'my_questoin'.*columns.text"),
        ({"answer": "my_answr"}, "'my_answr'.*columns.answer.*problem"),
        ({"item_id": "my_id"}, "'my_id'.*columns.item_id"),
        ({"level": "my_level"}, "'my_level'.*columns.level"),
        (
            {"wrong_answers": ("w1", "w22")},
            r"'w22'.*columns.wrong_answers",
        ),
        ({"answer": "my_answer", "wrong_answers": USUAL_WRONG_ANSWERS}, "'Incorrect Answer 1'"),
        ({"answer": "Correct Answer", "wrong_answers": ("w11", "w22")}, "'w11'"),
    ],
)
def test_a_misspelt_column_is_replaced_by_no_other(changes, message):
    names = ["problem", "answer", "my_question", "my_answer", "w1", "w2"]
    with pytest.raises(BenchmarkError, match=message):
        replace(Columns("problem", "answer", None, None, (), 0), **changes).fitted(names, "own.csv")


@pytest.mark.parametrize(
    ("names", "fitted"),
    [
        (["id", "problem", "answer", "level"], PLAIN),
        (["unique_id", "problem", "answer"], Columns("problem", "answer", "unique_id", None, (), 0)),
        (["question", "gold"], Columns("question", "gold", None, None, (), 0)),
        (["Problem", "Answer", "difficulty"], Columns("Problem", "Answer", None, "difficulty", (), 0)),
    ],
)
def test_columns_of_other_names_are_found_by_their_usual_names(names, fitted):
    assert PLAIN.fitted(names, "file") == fitted


def test_a_file_with_lettered_options_is_taken_as_it_is():
    hub = Columns("Question", "Correct Answer", "Record ID", None, USUAL_WRONG_ANSWERS, 7)
    assert hub.fitted(["id", "problem", "answer"], "file") == Columns("problem", "answer", "id", None, (), 7)
    options = ["Incorrect Answer 3", "Incorrect Answer 1", "Incorrect Answer 2"]
    assert hub.fitted(["id", "question", "answer", *options], "file").wrong_answers == USUAL_WRONG_ANSWERS


@pytest.mark.parametrize("option", [None, "", " ", float("nan")])
def test_an_option_that_is_missing_is_named(option):
    rows = gpqa_rows(2)
    rows[1]["w2"] = option
    with pytest.raises(BenchmarkError, match=r"gpqa, row 2 .*'w2'"):
        GPQA.items(rows, "gpqa")


def test_columns_that_cannot_be_told_are_named():
    with pytest.raises(BenchmarkError, match=r"foo, solution.*\.csv"):
        PLAIN.fitted(["foo", "solution"], "file")
    with pytest.raises(BenchmarkError, match=r"x{40}\.\.\., 4") as caught:
        PLAIN.fitted(["x" * 900, "4"], "file")
    assert len(str(caught.value)) < 500
