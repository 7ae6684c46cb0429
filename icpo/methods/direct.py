"""The base: finals drawn from the question alone."""

from enum import Enum

from icpo.methods.drawing import draw_finals
from icpo.seeding import derive_seed
from icpo.types import AnswerKind, Budget, Purpose, Question, QuestionResult, Solving, Toolkit, validated


class BasePrompt(str, Enum):
    """What the base is asked.

    `plain` is question and output format; `empty_history` is what round 1 of ME-ICPO sees; `authors` is plain
    for numbers and empty_history for choices and expressions, as in the authors' code.
    """

    PLAIN = "plain"
    EMPTY_HISTORY = "empty_history"
    AUTHORS = "authors"


PAPER_BUDGET = Budget()


@validated
class Direct:
    """k finals with no context but the question."""

    prompt: BasePrompt = BasePrompt.PLAIN
    budget: Budget = PAPER_BUDGET
    name: str = "direct"
    label: str = "direct"

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Draws the finals of one question."""
        scope = derive_seed(seed, question.question_id)
        if self._promises_ideas(question.kind):
            finals, _ = yield from draw_finals(question, (), tools, self.budget.num_finals, scope, 0)
        else:
            request = tools.ask(
                Purpose.FINAL,
                tools.prompts.plain(question),
                self.budget.num_finals,
                derive_seed(scope, "final", 0),
            )
            [completions] = yield [request]
            finals = tools.candidates(completions, question.kind)
        return QuestionResult(question, seed, (), ((0, finals),))

    def _promises_ideas(self, kind: AnswerKind) -> bool:
        if self.prompt is BasePrompt.AUTHORS:
            return kind is not AnswerKind.NUMBER
        return self.prompt is BasePrompt.EMPTY_HISTORY
