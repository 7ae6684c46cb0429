"""Verdicts: what is asked and how replies are read."""

import pytest

from icpo.prompts.verdicts import Verdict, judge
from tests.methods.hand import QUESTION


@pytest.mark.parametrize(
    ("form", "reply", "value"),
    [
        ("yes_no", "yes", 100),
        ("yes_no", " No, since 3 is odd", -100),
        ("yes_no", "It is not known", None),
        ("yes_no", "", None),
        ("prospects", "Likely.", 0),
        ("prospects", "impossible", -100),
        ("prospects", "**sure**", 100),
        ("prospects", "unlikely", None),
        ("score", "Two gaps of 3 points.\n-40", -40),
        ("score", "Score: \u221212.5", -12.5),
        ("score", "1000", 100),
        ("score", "perfect", None),
    ],
)
def test_replies(form, reply, value):
    assert Verdict(form, 16).read(reply) == value


def test_yes_no_is_the_prompt_that_nano_is_trained_on():
    assert Verdict("yes_no", 16).ask(QUESTION, "boxed{4}") == judge(QUESTION, "boxed{4}")


@pytest.mark.parametrize(("form", "marker"), [("prospects", "Steps"), ("score", "Solution")])
def test_question_and_solution_are_shown(form, marker):
    user = Verdict(form, 16).ask(QUESTION, "a\nb\n").user
    assert user.startswith(QUESTION.text) and f"[{marker} start]\na\nb\n[{marker} end]" in user


@pytest.mark.parametrize(("form", "max_tokens"), [("maybe", 1), ("score", 0)])
def test_bad_settings_are_refused(form, max_tokens):
    with pytest.raises(ValueError):
        Verdict(form, max_tokens)
