"""The paper's prompts with another opening."""

from dataclasses import dataclass

from icpo.prompts import Book, paper
from icpo.types import History, Prompt, Question


@dataclass(frozen=True, slots=True)
class OwnOpening(Book):
    """Says `opening` where the paper's prompts say "You are an AI mathematician. ..."."""

    opening: str = paper.OPENING

    def plain(self, question: Question) -> Prompt:
        """What the base is asked."""
        return self._opened(Book.plain(self, question))  # a class with slots has no bare super()

    def solve(self, question: Question, history: History) -> Prompt:
        """What candidates, look-aheads and finals are asked."""
        return self._opened(Book.solve(self, question, history))

    def _opened(self, prompt: Prompt) -> Prompt:
        return Prompt(prompt.system.replace(paper.OPENING, self.opening), prompt.user)
