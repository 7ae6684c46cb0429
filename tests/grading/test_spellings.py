"""Answers as models write them: which spellings are one value, what a text states, and what is none of it."""

import json
import sys
import time
from pathlib import Path

import pytest

from icpo.grading import GradingRules
from icpo.grading.extract import extract
from icpo.grading.maths.forms import normal_form
from icpo.grading.maths.reading import read
from icpo.types import AnswerKind

EXPRESSION = AnswerKind.EXPRESSION
HERE = Path(__file__).parent
LENGTH = 100_000


def _lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def test_spellings_are_equal_or_not_both_ways(grader):
    wrong = [
        case
        for case in _lines("spellings.jsonl")
        for pair in ((case["gold"], case["answer"]), (case["answer"], case["gold"]))
        if grader.judge(*pair, AnswerKind.EXPRESSION).correct is not case["equal"]
    ]
    assert not wrong


def test_normal_forms_equal_what_they_stand_for(grader):
    answers = {case[side] for case in _lines("spellings.jsonl") for side in ("gold", "answer")}
    known = [answer for answer in answers if read(answer).shape not in ("unread", "oversized")]
    assert len(known) > 400
    assert not [
        answer
        for answer in known
        if not grader.are_equal(answer, grader.normal_form(answer, EXPRESSION), EXPRESSION)
    ]


def test_what_texts_state():
    wrong = {
        case["text"]: found
        for case in _lines("statements.jsonl")
        if (found := extract(case["text"], AnswerKind(case["kind"]), GradingRules())) != case["answer"]
    }
    assert not wrong


def test_an_option_before_a_number_is_no_part_of_it(grader):
    for answer in (r"\textbf{(D)}~165", "(D) 165", r"\text{(D) }165"):
        assert grader.judge(answer, "165", AnswerKind.NUMBER).correct
        assert not grader.judge(answer, "166", AnswerKind.NUMBER).correct


def test_a_range_is_no_number(grader):
    for answer in ("5\u20136", "5\u20146", "5--6", "\\$5\u2013\\$6"):
        assert grader.judge(answer, "-1", AnswerKind.NUMBER).correct is False
    assert grader.judge("5\u22126", "-1", AnswerKind.NUMBER).correct
    assert not grader.judge("5\u20136", "5", AnswerKind.NUMBER).correct


@pytest.mark.parametrize(
    "piece",
    [
        "The answer is ",
        " ",
        "Answer",
        "#### 1\n",
        r"\boxed{",
        r"\boxed{1}, ",
        "{",
        r"\text{",
        "Box{",
        "</think>",
        "<think>",
        "<",
        "<thinking>",
        "A",
        "(A) ",
        "option A ",
        "choose A",
        "C is ",
        "A, ",
        "answer: (",
        r"\boxed{B},",
        "$",
        "and ",
        "answer is not ",
        "box",
        "final answer\n",
        "**",
        "[A]",
        r"\langle \text{abc}",
        "\t",
        "ox",
        r"\boxed\sqrt{",
        "\n",
        "pick ",
    ],
)
def test_no_text_takes_long_to_extract(piece):
    """Such a text must not end a run; quadratic reading would show here as many seconds."""
    many = piece * (LENGTH // len(piece))
    for text in (many, f"The answer is{many}5", rf"\boxed{{{many}}}", rf"\boxed{{1}}{many}\boxed{{2}}"):
        for kind in AnswerKind:
            start = time.process_time()
            extract(text, kind, GradingRules())
            assert time.process_time() - start < 0.3


@pytest.mark.parametrize(
    "text",
    [
        "|" * 199,
        r"\begin{pmatrix}" * 12 + "1" + r"\end{pmatrix}" * 12,
        r"\begin{cases}x&" * 20 + "1" + r"\end{cases}" * 20,
        r"\{x:" * 24 + "1" + r"\}" * 24,
        r"\sin " * 190,
        "2^-" * 300 + "1",
        "x^{5^{7000}}",
        "(n+5)!" * 100,
        "(1+x)^{99}" * 90,
        "½" * 900,
        r"\frac{1}{1+" * 24 + "x" + "}" * 24,
        "n!!" * 300,
        r"\sqrt{3+4i}" * 80,
        r"\pm 1," * 150,
        r"x<1 \text{ or } " * 60 + "x>3",
        "1\u2013" * 499,
        "1, " * 330 + "\u2013",
        "5" + " " * 990 + "\u20135x",
        "1" * 990 + "\u2013x",
    ],
)
def test_no_form_takes_long_to_read(text):
    limit = sys.getrecursionlimit()
    start = time.process_time()
    assert normal_form(read(text)) is not None
    assert time.process_time() - start < 2 and sys.getrecursionlimit() == limit
