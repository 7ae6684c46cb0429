"""Prompts for a critique and a better solution; our own words."""

from enum import Enum

from icpo.types import Attempt, Candidate, Prompt, PromptBook, Question, validated


class RefineForm(str, Enum):
    """How a solution is refined.

    `asked`: the model writes a critique and then a solution that heeds it. `ideas`: for models that know the
    protocol's prompts alone (nano): the critique is a summary, and the solution is shown as an idea whose
    reward tag is the sign of the model's own verdict.
    """

    ASKED = "asked"
    IDEAS = "ideas"


_CRITICISE = (
    "Below are a question and somebody's solution. Look for what is wrong with it: steps that do not follow, "
    "slips in calculation, a misread question, a final output in the wrong format. List what you find and "
    "how to mend it. Do not write a new solution and do not tell the final result."
)
_IMPROVE = (
    "Write a better solution from beginning to end. Heed what the review says where it is right, and keep "
    "what was good."
)


@validated
class Refining:
    """Prompts of MCTSr."""

    form: RefineForm

    def critique(self, book: PromptBook, question: Question, solution: str) -> Prompt:
        """Asks what is wrong with a solution; for `ideas`, what it did."""
        if self.form is RefineForm.IDEAS:
            return book.summary(question, solution)
        return Prompt(_CRITICISE, f"{question.text}\n\n{_shown('Solution', solution)}\n\nReview:")

    def refine(
        self, book: PromptBook, question: Question, solution: Candidate, critique: str, quality: float
    ) -> Prompt:
        """Asks for a better solution; `quality` above 0 is a good idea."""
        if self.form is RefineForm.IDEAS:
            return book.solve(question, (Attempt(solution, int(quality > 0), critique),))
        plain = book.plain(question)
        shown = f"{_shown('Solution', solution.completion.text)}\n\n{_shown('Review', critique)}"
        return Prompt(plain.system, f"{plain.user}\n{shown}\n\n{_IMPROVE}")


def _shown(title: str, text: str) -> str:
    return f"[{title} start]\n{text.strip()}\n[{title} end]"
