"""Workings are written, read back and summarised as what they are, right or wrong."""

import pytest

from icpo.benchmarks.arithmetic import Chain, Operation, Step, questions
from icpo.lab.nano.solutions import Line, Solution, read_answer, read_solution, right_solution

CHAIN = Chain(86, (Step(Operation.TIMES, 6), Step(Operation.DIVIDE, 4)))
TEXT = "86 * 6 = 516\n516 / 4 = 129\nboxed{129}"


def test_right_solution():
    assert right_solution(CHAIN).text == TEXT
    assert right_solution(CHAIN).summary == "from 86, times 6 is 516, over 4 is 129, so boxed{129}"


@pytest.mark.parametrize("level", ["l1", "l3", "l5"])
def test_reading_undoes_writing(level):
    for problem in questions("dev", level, 50):
        solution = right_solution(problem.chain)
        assert read_solution(solution.text) == solution
        assert read_answer(solution.text) == problem.answer


def test_summary_tells_what_was_written_not_what_is_right():
    wrong = Solution((Line(86, Operation.TIMES, 6, 526), Line(500, Operation.MINUS, 4, 496)), 495)
    assert wrong.summary == "from 86, times 6 is 526, from 500, minus 4 is 496, so boxed{495}"


@pytest.mark.parametrize(
    "text", ["", "boxed{}", "86 * 6 = 516", "86 x 6 = 516\nboxed{516}", TEXT + "\nand more"]
)
def test_what_is_no_working(text):
    assert read_solution(text) is None


@pytest.mark.parametrize(
    ("text", "answer"), [("boxed{1} boxed{007}", "7"), ("no box", None), ("boxed{<number>}", None)]
)
def test_answer_is_the_last_boxed_whole_number(text, answer):
    assert read_answer(text) == answer
