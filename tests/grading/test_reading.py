"""Which form an answer has, and what its normal form is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icpo.grading.maths.forms import normal_form
from icpo.grading.maths.reading import MAX_CHARACTERS, read
from tests.public_files import FILES, needs_files


@pytest.mark.parametrize(
    ("text", "shape", "normal"),
    [
        (r"10,\!080", "scalar", "10080"),
        ("1,234", "scalar", "1234"),
        ("(100,200)", "tuple", "(100, 200)"),
        ("3,5,7", "list", "3, 5, 7"),
        ("7, 5, 3", "list", "3, 5, 7"),
        (r"\frac34", "scalar", r"\frac{3}{4}"),
        (r"1\frac12", "scalar", r"\frac{3}{2}"),
        (r"2\frac32", "scalar", "3"),
        (r"x\frac12", "scalar", r"\frac{x}{2}"),
        ("0.\\overline{3}", "scalar", r"\frac{1}{3}"),
        ("1.5e3", "scalar", "1500"),
        ("-\\$5", "scalar", r"\$-5"),
        ("5 \\text{ million}", "scalar", "5000000"),
        ("28 percent", "scalar", r"28\%"),
        (r"90^{\circ}", "scalar", r"90^\circ"),
        ("2 square inches", "scalar", r"2\text{ inch^2}"),
        (r"\sqrt2 \approx 1.414", "scalar", r"\sqrt{2}"),
        (r"\text{The answer is } 5", "scalar", "5"),
        (r"\begin{bmatrix} 1 & 2 \end{bmatrix}", "matrix", r"\begin{pmatrix} 1 & 2 \end{pmatrix}"),
        (r"(0,9) \cup [9,36)", "interval", "(0, 36)"),
        (r"(0,9) \cup (9,36)", "union", r"(0, 9) \cup (9, 36)"),
        (r"(-\infty, 2) \cup \{3\}", "union", r"(-\infty, 2) \cup [3, 3]"),
        (r"x \ne 3", "labelled", r"x \in (-\infty, 3) \cup (3, \infty)"),
        (r"-1 < 2x \le 4", "labelled", r"x \in (-\frac{1}{2}, 2]"),
        (r"\text{all real numbers}", "interval", r"(-\infty, \infty)"),
        (r"\mathbb{R}", "interval", r"(-\infty, \infty)"),
        (r"\{x \mid x < 3\}", "interval", r"(-\infty, 3)"),
        ("x + y < 3", "inequality", "x + y - 3 < 0"),
        ("6x = 4y", "equation", "3x - 2y = 0"),
        ("y = 2x", "labelled", "y = 2x"),
        ("f(x) = 2x", "labelled", "f(x) = 2x"),
        ("x=1, y=2", "tuple", "(1, 2)"),
        ("y=2, x=1", "tuple", "(1, 2)"),
        ("x=1 or x=2", "list", "1, 2"),
        ("n = 2, 3", "list", "2, 3"),
        ("4343_{6}", "based", "4343_6"),
        ("4343 base 6", "based", "4343_6"),
        (r"\text{Evelyn}", "words", r"\text{evelyn}"),
        ("yes", "words", r"\text{yes}"),
        ("xyz", "scalar", "xyz"),
        ("12:30", "ratio", "12:30"),
        (r"\emptyset", "set", r"\{\}"),
        (r"\{2, 1, 1\}", "set", r"\{1, 2\}"),
        ("9^{9^{9^{9}}}", "oversized", "9^{9^{9^{9}}}"),
        (r"\frac{1}{0}", "unread", r"\frac{1}{0}"),
        ("{", "unread", "{"),
        (r"\frac.\overline{3}", "unread", r"\frac.\overline{3}"),
        (r"|x|<3", "labelled", r"x \in (-3, 3)"),
        (r"\{x^2 : 1<x<2\}", "builder", r"\{x^{2} : x \in (1, 2)\}"),
        ("5 ft 6 in", "compound", r"5\text{ ft} 6\text{ inch}"),
        (
            r"\begin{cases} x & x \ge 0 \\ 1 & \text{else} \end{cases}",
            "cases",
            r"\begin{cases} 1 & \text{otherwise} \\ x & x \in [0, \infty) \end{cases}",
        ),
        ("a + b = 28", "labelled", "a + b = 28"),
        ("HHT", "words", r"\text{hht}"),
    ],
)
def test_forms(text, shape, normal):
    answer = read(text)
    assert (answer.shape, normal_form(answer)) == (shape, normal)


@pytest.mark.parametrize(
    "text", ["x+1", r"\sin^2 x", r"\frac{x}{\sqrt{y}}", r"|x-1|", r"\binom{n}{2}", "n!", "e^{2x}"]
)
def test_the_normal_form_reads_as_the_same_value(text):
    assert read(normal_form(read(text))) == read(text) != read("7")


def test_long_answers_are_not_read():
    assert read("1" * MAX_CHARACTERS).shape == "scalar"
    assert read("1" * (MAX_CHARACTERS + 1)).shape == "oversized"


@needs_files
def test_golds_are_read_and_their_normal_forms_are_stable():
    for name in ("math500", "amc", "aime2024"):
        for line in (FILES / f"{name}.jsonl").read_text().strip().split("\n"):
            answer = read(json.loads(line)["answer"])
            assert answer.shape not in ("unread", "oversized")
            assert read(normal_form(answer)) == answer


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_exception(text):
    assert normal_form(read(text)) is not None


def test_the_arithmetic_of_one_answer_is_bounded():
    """Each power is small enough to be expanded; sixty of them are not."""
    assert read("(x+1)^{100}").shape == "scalar"
    assert read("-".join(["(x+1)^{100}"] * 60)).shape == "oversized"
