"""Asks whether an answer is right; a prompt of our own, since the paper prints none for self-evaluation."""

from icpo.types import Prompt, Question

INSTRUCTION = (
    "Below are a question and an answer to it. Check each step of the answer, then say whether its final "
    "result is right.\nOutput exactly one word, yes or no, and nothing else."
)


def judge(question: Question, text: str) -> Prompt:
    """A prompt whose completion is yes or no; `text` is the answer as it was written."""
    answer = f"[Answer start]\n{text.strip()}\n[Answer end]"
    return Prompt(INSTRUCTION, f"{question.text}\n\n{answer}\n\nIs it right?")
