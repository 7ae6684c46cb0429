"""Prompts for a solution's next step or rest; our own words."""

from enum import Enum

from icpo.types import Prompt, PromptBook, Question, validated

_END_MARK = "boxed{"


class ThoughtForm(str, Enum):
    """How a solution is continued.

    `continuation`: the steps follow the plain prompt, as a base model goes on writing.
    `instructed`: a chat model is shown the steps and asked for one more.
    """

    CONTINUATION = "continuation"
    INSTRUCTED = "instructed"


_ONE_STEP = (
    "Write the next step of the solution: one short paragraph that continues the steps above and repeats "
    "none of them. Only if nothing is left to work out, write the final output instead."
)
_THE_REST = "Carry the solution on from the steps above to its end and write the final output."


@validated
class Thoughts:
    """Prompts of a tree of thoughts; `steps` is the solution so far."""

    form: ThoughtForm

    def next_step(self, book: PromptBook, question: Question, steps: str) -> Prompt:
        """Asks for one more step."""
        return self._continue(book, question, steps, _ONE_STEP)

    def rest(self, book: PromptBook, question: Question, steps: str) -> Prompt:
        """Asks for all that is missing, with the final output."""
        return self._continue(book, question, steps, _THE_REST)

    def is_finished(self, steps: str) -> bool:
        """Whether the final output was written, in a box."""
        return _END_MARK in steps

    def _continue(self, book: PromptBook, question: Question, steps: str, instruction: str) -> Prompt:
        plain = book.plain(question)
        if self.form is ThoughtForm.CONTINUATION:
            return Prompt(plain.system, plain.user + steps)
        written = steps.strip() or "(none yet)"
        return Prompt(plain.system, f"{plain.user}\n[Steps start]\n{written}\n[Steps end]\n\n{instruction}")
