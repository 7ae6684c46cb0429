"""Prompts for a verdict on a solution, and reading the reply."""

import re
from collections.abc import Callable
from enum import Enum

from pydantic import PositiveInt

from icpo.types import Prompt, Question, validated

INSTRUCTION = (
    "Below are a question and an answer to it. Check each step of the answer, then say whether its final "
    "result is right.\nOutput exactly one word, yes or no, and nothing else."
)


def judge(question: Question, text: str) -> Prompt:
    """A prompt whose completion is yes or no about `text`."""
    answer = f"[Answer start]\n{text.strip()}\n[Answer end]"
    return Prompt(INSTRUCTION, f"{question.text}\n\n{answer}\n\nIs it right?")


_WORD = re.compile(r"[a-z]+")
_SCORE = re.compile(r"-?\d+(?:\.\d+)?")


class VerdictForm(str, Enum):
    """What is asked.

    `yes_no`: is the final result right (what nano was trained on). `prospects`: can these steps still lead
    to the right result, for partial solutions. `score`: a number from -100 to 100 after a strict review.
    """

    YES_NO = "yes_no"
    PROSPECTS = "prospects"
    SCORE = "score"


@validated
class Verdict:
    """One form of verdict; `max_tokens` is a reply's room."""

    form: VerdictForm
    max_tokens: PositiveInt

    def ask(self, question: Question, solution: str) -> Prompt:
        """Asks for a verdict on a solution."""
        return _ASK[self.form](question, solution)

    def read(self, reply: str) -> float | None:
        """The verdict, from -100 to 100; None where the reply holds none."""
        if self.form is VerdictForm.SCORE:
            scores = _SCORE.findall(reply.replace("\N{MINUS SIGN}", "-"))
            return max(-100.0, min(100.0, float(scores[-1]))) if scores else None
        words = _WORD.findall(reply.lower())
        return next((_WORTH[word] for word in words if word in _WORTH), None)


_WORTH = {"yes": 100.0, "sure": 100.0, "likely": 0.0, "no": -100.0, "impossible": -100.0}
_PROSPECTS = (
    "A solution to the question below was begun. Check the steps written so far and look a little ahead: can "
    "they still lead to the right final result?\n"
    "Output exactly one word and nothing else: sure, likely or impossible."
)
_SCORE_STRICTLY = (
    "You mark solutions to mathematical questions and give full marks to nobody. Name every gap and mistake "
    "of the solution below in a few sentences; deduct for each.\n"
    "End with a line that holds a whole number from -100 (worthless) to 100 (beyond doubt) and nothing else."
)


def _prospects(question: Question, solution: str) -> Prompt:
    written = solution.strip() or "(nothing yet)"
    return Prompt(
        _PROSPECTS, f"{question.text}\n\n[Steps start]\n{written}\n[Steps end]\n\nsure, likely or impossible?"
    )


def _score(question: Question, solution: str) -> Prompt:
    return Prompt(
        _SCORE_STRICTLY, f"{question.text}\n\n[Solution start]\n{solution.strip()}\n[Solution end]\n\nReview:"
    )


_ASK: dict[VerdictForm, Callable[[Question, str], Prompt]] = {
    VerdictForm.YES_NO: judge,
    VerdictForm.PROSPECTS: _prospects,
    VerdictForm.SCORE: _score,
}
