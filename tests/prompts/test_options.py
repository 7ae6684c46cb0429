"""The letters of a choice are those of its options, in every prompt that names them."""

import pytest

from icpo.prompts.options import letters
from icpo.types import AnswerKind, Question
from tests.methods.hand import BOOK

FIVE = "Which?\n\nA. 1\nB. 2\nC. 3\nD. 4\nE. 5"


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("Which?\n\nA. 1\nB. 2\nC. 3\nD. 4", "ABCD"),
        (FIVE, "ABCDE"),
        ("Is it so?\nA) yes\nB) no", "AB"),
        ("Which?\n(A) 1\n(B) 2\n(C) 3", "ABC"),
        ("No options in lines: (A) 1 (B) 2 (C) 3", "ABCD"),
        ("W. Heisenberg said:\nA. 1\nB. 2\nC. 3\nD. 4", "ABCD"),
        ("Of\nA. x\nB. y\nC. z\nwhich?\n\nA. x and y\nB. y and z", "AB"),
        ("Which?\n\nA. in\nC. elegans\nB. in\nA. thaliana\nC. in both\nD. in none", "ABCD"),
        ("\n".join(f"{chr(ord('A') + i)}. {i}" for i in range(12)), "ABCDEFGHIJKL"),
    ],
)
def test_options_are_lines_with_letters_in_order(text, offered):
    assert letters(text) == offered


@pytest.mark.parametrize(
    ("text", "named"), [(FIVE, "A, B, C, D, E"), (FIVE[:-5], "A, B, C, D"), ("Is it?\nA. yes\nB. no", "A, B")]
)
def test_prompts_name_the_letters_that_there_are(text, named):
    question = Question("q", text, AnswerKind.CHOICE)
    for system in (BOOK.plain(question).system, BOOK.system(question)):
        assert system.endswith(f"where <letter> is exactly one of {named}.")
    assert f"(must be exactly one of {named}, no extra text)" in BOOK.summary(question, "A, B, C, D").user
    assert "[Answer start]\nA, B, C, D\n" in BOOK.summary(question, "A, B, C, D").user
