"""Asks whether an answer is right; the project's own prompt, since the paper prints none for self-evaluation."""

from icpo.types import Prompt, Question

INSTRUCTION = (
    "Below are a question and an answer to it. Check each step of the answer, then say whether its final result "
    "is right.\nOutput exactly one word, yes or no, and nothing else."
)


def judge(question: Question, text: str) -> Prompt:
    """A prompt whose completion is yes or no; `text` is the answer as it was written."""
    return Prompt(INSTRUCTION, f"{question.text}\n\n[Answer start]\n{text.strip()}\n[Answer end]\n\nIs it right?")
