"""The base and its three prompts."""

import pytest

from icpo.methods import Direct
from icpo.methods.direct import BasePrompt
from icpo.types import AnswerKind, Budget, Question
from tests.methods.hand import boxed, play, toolkit


@pytest.mark.parametrize(
    ("prompt", "kind", "promises"),
    [
        ("plain", "number", False),
        ("plain", "expression", False),
        ("empty_history", "number", True),
        ("authors", "number", False),
        ("authors", "choice", True),
        ("authors", "expression", True),
    ],
)
def test_which_base_prompts_promise_ideas(prompt, kind, promises):
    question = Question("q", "Why?", AnswerKind(kind))
    result, [[request]] = play(
        Direct(prompt, Budget(num_finals=3)).solve(question, toolkit(), seed=0), lambda r: boxed(1, 2, 3)
    )
    assert ("ideas" in request.prompt.raw) is promises
    assert request.prompt.user == "Why?\n"
    assert [c.answer for c in result.finals[0][1]] == ["1", "2", "3"]
    assert result.finals[0][0] == 0


def test_base_and_empty_history_of_me_icpo_share_their_draw():
    from tests.methods.test_me_icpo import method

    question = Question("q", "Why?", AnswerKind.NUMBER)
    _, base = play(
        Direct(BasePrompt("empty_history"), Budget(num_finals=2)).solve(question, toolkit(), seed=4),
        lambda r: boxed(1, 2),
    )
    _, ours = play(method(num_rounds=0).solve(question, toolkit(), seed=4), lambda r: boxed(1, 2))
    assert base == ours


@pytest.mark.parametrize(("prompt", "num_finals", "word"), [("nice", 1, "nice"), ("plain", 0, "num_finals")])
def test_bad_settings_are_named(prompt, num_finals, word):
    with pytest.raises(ValueError, match=word):
        Direct(prompt, Budget(num_finals=num_finals))
