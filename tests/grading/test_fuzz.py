"""A short run of experiments/grading/fuzz.py: hostile completions never raise and never hang."""

import random
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from icpo.grading import Grader, GradingRules
from icpo.types import AnswerKind
from tests.grading import grammar


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(list(AnswerKind)))
def test_completions_of_the_grammar(seed, kind):
    rng = random.Random(seed)
    grader = Grader(GradingRules())
    answer = grader.extract(grammar.completion(rng), kind)
    if answer is not None:
        assert grader.normal_form(answer, kind)
        assert grader.judge(answer, answer, kind).correct


@settings(max_examples=400)
@given(st.text(max_size=200), st.sampled_from(list(AnswerKind)))
def test_any_text(text, kind):
    grader = Grader(GradingRules())
    answer = grader.extract(rf"{text} \boxed{{{text}}}", kind)
    assert answer is None or grader.judge(answer, answer, kind).correct


def test_huge_answers_end_at_once(grader):
    huge = [
        "9" * 100_000,
        "(" * 50_000 + "1" + ")" * 50_000,
        r"\frac{" * 20_000,
        "x+" * 50_000 + "x",
        "5^" * 400 + "5",
        "{" * 400 + "7" + "}" * 400,
        "!" * 900,
        "9" + "!" * 900,
        r"\sqrt{" * 100 + "2" + "}" * 100,
        "(1+x)^{99}" * 90,
        "((x+1)^{1/3}+1)^{1/3}" * 40,
        "1,000," * 160 + "000",
        r"\pm " * 240 + "1",
    ]
    start = time.process_time()
    for text in huge:
        assert grader.judge(text, "4", AnswerKind.EXPRESSION).correct is False
        assert grader.judge(text, text, AnswerKind.EXPRESSION).correct is True
    assert time.process_time() - start < 20
    assert len(grader.tally(huge, AnswerKind.EXPRESSION).counts) == len(huge)
