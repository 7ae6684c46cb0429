"""Each rule decides what it should, forgives only under its setting, and works both ways."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.grading import Grader, GradingRules, Verdict
from icpo.grading.alternatives import alternatives, joined
from icpo.grading.equivalence import Equivalence
from icpo.grading.workers import Outcome
from icpo.types import AnswerKind
from tests.grading import grammar
from tests.public_files import FILES, needs_files

EXPRESSION = AnswerKind.EXPRESSION
seeds = st.integers(0, 2**32)


def refuse(left: str, right: str) -> Outcome:
    raise AssertionError(f"math-verify was asked about {left} and {right}")


def answer_different(left: str, right: str) -> Outcome:
    return Outcome.DIFFERENT


@pytest.mark.parametrize(
    ("one", "other", "correct", "rule"),
    [
        ("5", " 5 ", True, "same_text"),
        ("0.5", r"\frac{1}{2}", True, "same_value"),
        ("0.5", "0.6", False, "same_value"),
        ("east", r"\text{East}", True, "same_value"),
        ("no", r"\text{no}", True, "same_value"),
        ("no", r"\text{on}", False, "same_words"),
        ("y = 2x", "2x - y = 0", True, "same_equation"),
        ("y = 2x", "2x - y = 1", False, "same_equation"),
        ("x = 5", "y = 5", False, "label"),
        ("x = 5", "5", True, "label_dropped"),
        (r"x \in [0,1]", "[0,1]", True, "label_dropped"),
        ("5", "5 cm", True, "unit_dropped"),
        ("5 cm", "6 cm", False, "same_value"),
        ("5 cm", "5 kg", False, "unit"),
        (r"28\%", "28", True, "percent_dropped"),
        (r"28\%", "0.28", True, "percent_value"),
        (r"90^\circ", r"\frac{\pi}{2}", True, "degree_value"),
        ("4343_6", "4343", True, "base_dropped"),
        ("4343_6", "999", False, "base_dropped"),
        ("40_9", "44_8", True, "same_value"),
        ("1, 2", "(1, 2)", True, "bracket_dropped"),
        ("2, 1", "(1, 2)", False, "same_value"),
        (r"\{5\}", "5", True, "bracket_dropped"),
        (r"\{1,2\}", "(1,2)", False, "shape"),
        ("(1,2)", "1 < x < 2", True, "label_dropped"),
        ("x < 3", "y < 3", False, "label"),
        (r"(1,2) \cup (2,3)", "(1,2)", False, "shape"),
        ("(1,2)", r"(1,2) \cup (1,2)", True, "pair_is_interval"),
        ("(1,2]", "(1,2)", False, "brackets"),
        ("100,200", "100, 200", True, "comma_parts"),
        ("1, 2", "1, 2, 3", False, "num_elements"),
        (r"\sqrt{17}", "4.123105625617661", True, "rounded_decimal"),
        (r"\frac{1}{x+1}", r"\frac{1}{x+2}", False, "sampled"),
        (r"\log_2 9", "3", False, "sampled"),
        (r"\log 5", r"\ln 5", False, "unread"),
        ("9^{9^{9^9}}", "4", False, "oversized"),
        ("x < 3", "3", False, "shape"),
        ("(", ")", False, "unread"),
    ],
)
def test_rules(one, other, correct, rule):
    relation = Equivalence(GradingRules(), lambda left, right: Outcome.UNREAD)
    assert relation.verdict(one, other) == relation.verdict(other, one) == Verdict(correct, rule)


@pytest.mark.parametrize(
    ("leniency", "one", "other"),
    [
        ("accept_unit_dropped", "5", "5 cm"),
        ("accept_percent_dropped", r"28\%", "28"),
        ("accept_base_dropped", "4343_6", "4343"),
        ("accept_label_dropped", "x = 5", "5"),
    ],
)
def test_each_leniency_can_be_switched_off(leniency, one, other):
    paper = GradingRules()
    assert Equivalence(paper, refuse).verdict(one, other).correct
    assert not Equivalence(replace(paper, **{leniency: False}), refuse).verdict(one, other).correct


def test_rounded_decimals_can_be_switched_off():
    exact = replace(GradingRules(), rounded_decimal_digits=0)
    assert not Equivalence(exact, refuse).verdict("4.123105625617661", r"\sqrt{17}").correct


def test_limits_exceeded_are_wrong_answers_and_say_so():
    relation = Equivalence(GradingRules(), lambda left, right: Outcome.TIME_LIMIT)
    assert relation.verdict(r"\int_0^1 x dx", "5") == Verdict(False, "time_limit", timed_out=True)


def test_math_verify_is_asked_in_one_order():
    asked = []
    relation = Equivalence(GradingRules(), lambda *pair: asked.append(pair) or Outcome.EQUAL)
    assert relation.verdict(r"\cot x", r"\frac{\cos x}{\sin x}").rule == "math_verify"
    relation.verdict(r"\frac{\cos x}{\sin x}", r"\cot x")
    assert asked[0] == asked[1] == tuple(sorted(asked[0]))


@settings(max_examples=300)
@given(seeds, seeds)
def test_reflexive_and_symmetric(seed, other_seed):
    relation = Equivalence(GradingRules(), answer_different)
    one = grammar.noisy_answer(random.Random(seed))
    other = grammar.answer(random.Random(other_seed))
    assert relation.verdict(one, one).correct
    assert relation.verdict(one, other) == relation.verdict(other, one)


def test_choices_and_the_string_equality_of_the_authors_code():
    grader = Grader(replace(GradingRules(), string_equality=True))
    assert grader.judge("0.5", r"\frac12", EXPRESSION) == Verdict(False, "string")
    assert grader.judge("0.5", "0.5", EXPRESSION).correct
    assert grader.judge("25", "025", AnswerKind.NUMBER).correct
    assert grader.judge(r"\text{(B)}", "B", AnswerKind.CHOICE) == Verdict(True, "choice")
    assert grader.judge(None, "B", AnswerKind.CHOICE) == Verdict(None, "abstained")


def test_a_number_is_the_last_side_of_an_equation_that_names_it():
    grader = Grader(GradingRules(), ask=answer_different)
    named = (
        "m+n = 25",
        "25 = m+n",
        "x^2 + y^2 = 25",
        r"\text{Total} = 25",
        "5 \\times 5 = 25",
        "Answer = 25",
        "x = 25",
    )
    assert [text for text in named if not grader.judge(text, "25", AnswerKind.NUMBER).correct] == []
    others = (
        *("x >= 25", "x <= 25", "x != 25", r"x \not= 25", "x =/= 25"),
        *("x = 5, y = 25", r"x = 5 \text{ or } x = 25", "2x = 25", "x^2 = 25", "-x = 25"),
    )
    assert [text for text in others if grader.judge(text, "25", AnswerKind.NUMBER).correct] == []


def test_verdicts_are_remembered_and_timeouts_counted():
    asked = []
    grader = Grader(GradingRules(), ask=lambda *pair: asked.append(pair) or Outcome.TIME_LIMIT)
    for _ in range(3):
        assert grader.judge(r"\int_0^1 x dx", "2", EXPRESSION).timed_out
    assert len(asked) == grader.num_timed_out == grader.num_asked == 1


def test_one_verdict_asks_no_more_than_a_few_times_and_stops_at_a_limit():
    integrals = [rf"\int_0^{i} x^x dx" for i in range(1, 13)]
    for outcome, num_asked in ((Outcome.EQUAL, 8), (Outcome.TIME_LIMIT, 1)):
        asked = []
        grader = Grader(GradingRules(), ask=lambda *pair, o=outcome, a=asked: a.append(pair) or o)
        one, other = f"({', '.join(integrals)})", f"({', '.join(reversed(integrals))})"
        assert not grader.judge(one, other, EXPRESSION).correct
        assert len(asked) <= num_asked


@needs_files
def test_golds_equal_themselves_and_differ_where_their_values_do(grader):
    """Same-looking values are those that the leniencies name: a unit, a label, a base, brackets left out."""
    lines = (FILES / "math500.jsonl").read_text().strip().split("\n")
    golds = sorted({json.loads(line)["answer"] for line in lines})
    equal = {(a, b) for i, a in enumerate(golds) for b in golds[i:] if grader.are_equal(a, b, EXPRESSION)}
    assert {(gold, gold) for gold in golds} <= equal
    assert {pair for pair in equal if pair[0] != pair[1]} == {
        ("(-2,1)", "-2,1"),
        ("-2,1", "1,-2"),
        (r"10,\!080", "10080"),
        ("120", r"120^\circ"),
        ("15", r"15\mbox{ cm}^2"),
        (r"180^\circ", r"\pi"),
        (r"2 \sqrt{5}", r"2\sqrt{5}"),
        ("30", r"30^\circ"),
        ("36", r"36^\circ"),
        ("36", r"\$36"),
        ("40", "40_9"),
        ("5", "x=5"),
        ("90", r"90^\circ"),
        (r"\frac14", r"\frac{1}{4}"),
    }


def test_an_answer_may_equal_any_of_several_golds(grader):
    gold = joined(["4", "x+1"])
    assert alternatives(gold) == ["4", "x+1"]
    assert [grader.judge(answer, gold, EXPRESSION).correct for answer in ("1+x", "4.0", "5", None)] == [
        True,
        True,
        False,
        None,
    ]
