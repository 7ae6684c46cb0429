"""A gold answer that does not read as its kind is refused at load, by file, row and value."""

import json
import re
from dataclasses import replace

import pytest

from icpo.benchmarks import Benchmark, FileSource, Item
from icpo.benchmarks.golds import gold_fault
from icpo.errors import BenchmarkError
from icpo.grading import Grader, GradingRules
from icpo.types import AnswerKind

FIVE = "Which?\n\nA. 1\nB. 2\nC. 3\nD. 4\nE. 5"
FOUR = FIVE.removesuffix("\nE. 5")
TWELVE = "\n".join(f"{chr(ord('A') + i)}. {i}" for i in range(12))


def own_file(path, kind):
    return Benchmark("own", kind, FileSource(str(path)), None, None, None, str(path), None, None, 0, None)


@pytest.mark.parametrize(
    ("kind", "text", "gold", "fault"),
    [
        ("number", "t", "a pair", "reads as no number.*digits.*benchmark.kind=expression"),
        ("number", "t", "x + 1", "reads as no number"),
        ("number", "t", "12 and 13", "reads as no number"),
        ("number", "t", "A", "reads as no number"),
        ("number", "t", "inf", "reads as no number"),
        ("expression", "t", "nan", "missing answer"),
        ("expression", "t", "1 + ", "reads as no answer"),
        ("expression", "t", "{", "braces that do not pair"),
        ("choice", FOUR, "two", "none of the letters A, B, C, D. Write .*columns.wrong_answers"),
        ("choice", FOUR, "(b)", "none of the letters A, B, C, D"),
        ("choice", FOUR, "Z", "none of the letters A, B, C, D"),
        ("choice", FOUR, "E", "none of the letters A, B, C, D"),
        ("choice", FIVE, "F", "none of the letters A, B, C, D, E"),
        ("choice", "(A) 1 (B) 2 (C) 3 (D) 4 (E) 5", "E", "each option in a line of its own"),
        ("choice", TWELVE, "B", "belongs to 12 options; no more than 10"),
        ("expression", "t", r"\frac{1}{", "braces that do not pair"),
        ("expression", "t", "?", "missing answer"),
        ("expression", "t", "The set of all n for which the sum converges.", "no rule compares it"),
        ("expression", "t", r"x \mapsto x^2 !?", "no rule compares it"),
        ("expression", "t", "9" * 2000, "too long"),
        ("expression", "t", r"9^{9^{9^9}}", "too large a number"),
    ],
)
def test_what_cannot_be_of_its_kind_is_told_with_the_way_out(kind, text, gold, fault):
    told = gold_fault(Item("q", text, gold), AnswerKind(kind))
    assert re.search(fault, told or "accepted")


@pytest.mark.parametrize(
    ("kind", "text", "golds"),
    [
        (
            "number",
            "t",
            ["025", "142.0", "-3", "1,000", "50%", "$12", "1e3", r"\frac{1}{2}", "m + n = 25", "2 cm"],
        ),
        ("choice", FOUR, ["A", " D ", "(B)", "C. 3", r"\text{A}"]),
        ("choice", FIVE, ["A", "E"]),
        ("choice", "(A) 1 (B) 2", ["B"]),
        (
            "expression",
            "t",
            [r"\frac{1}{2}", "two", r"\{1, 2\}", "[0, 1)", r"\int_0^1 x dx", r"\{x : x > 1\}", "x", "blue"],
        ),
        ("expression", "t", ["<", "=", ">", "≤", ">=", "+", "-", "*", "±", "[]", "()"]),
        ("number", "t", [None]),
    ],
)
def test_what_an_answer_could_be_is_taken(kind, text, golds):
    faults = {gold: gold_fault(Item("q", text, gold), AnswerKind(kind)) for gold in golds}
    assert not any(faults.values()), faults


def test_file_row_and_value_are_named_and_other_levels_are_left_alone(tmp_path):
    path = tmp_path / "own.jsonl"
    golds = ["1", "2", "x" * 500]
    rows = [{"id": f"q{i}", "problem": "p", "answer": gold, "level": i} for i, gold in enumerate(golds)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    own = own_file(path, "number")
    with pytest.raises(BenchmarkError, match=r"own\.jsonl, row 3 \(q2\).*'xxx") as caught:
        own.load()
    assert len(str(caught.value)) < 400 + len(str(path))
    assert replace(own, level=1).load().golds == {"q1": "2"}
    assert replace(own, limit=2).load().golds == {"q0": "1", "q1": "2"}
    with pytest.raises(BenchmarkError, match=r"row 3 \(q2\)"):
        replace(own, level=2, limit=1).load()


@pytest.mark.parametrize(
    ("gold", "given"), [("<", True), ("≤", True), ("+", True), ("-", True), ("()", True), ("?", False)]
)
def test_a_lone_sign_is_an_answer_that_a_box_can_give_and_a_blank_is_none(gold, given):
    kind = AnswerKind.EXPRESSION
    with Grader(GradingRules()) as grader:
        answer = grader.extract(rf"Thus \boxed{{{gold}}}.", kind)
        assert (grader.judge(answer, gold, kind).correct is True) == given
    assert (gold_fault(Item("q", "t", gold), kind) is None) == given


@pytest.mark.parametrize(
    ("stored", "answer"),
    [
        ("He has 20 - 2 = <<20-2=18>>18 left.\n#### 18", "18"),
        ("The total is 1,080.\n#### 1,080", "1,080"),
        ("We find $x = \\boxed{\\frac{1}{2}}$ and then \\boxed{\\frac{3}{4}}.", r"\frac{3}{4}"),
        ("18", "18"),
    ],
)
@pytest.mark.parametrize("kind", ["number", "expression"])
def test_an_answer_that_is_stored_with_its_working_is_read_alone(stored, answer, kind, tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"question": "How many?", "answer": stored}))
    own = own_file(path, kind).load()
    assert list(own.golds.values()) == [answer]
    with Grader(GradingRules()) as grader:
        assert grader.judge(answer, answer, AnswerKind(kind)).correct


def test_a_working_without_a_final_answer_is_refused(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text(
        json.dumps({"question": "How many?", "answer": "He has 20 - 2 = 18 left. So we know it."})
    )
    for kind in ("number", "expression"):
        with pytest.raises(BenchmarkError, match="row 1"):
            own_file(path, kind).load()
