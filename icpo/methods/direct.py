"""The base: final samples of the question alone."""

from enum import Enum

from icpo.methods.sampling import final_seed, sample_finals
from icpo.seeding import derive_seed
from icpo.types import AnswerKind, Budget, Purpose, Question, QuestionResult, Solving, Toolkit, validated


class BasePrompt(str, Enum):
    """The prompt of the base.

    `plain` is question and output format; `empty_history` is what round 1 of ME-ICPO sees; `authors` is plain
    for numbers and empty_history for choices and expressions, as in the authors' code.
    """

    PLAIN = "plain"
    EMPTY_HISTORY = "empty_history"
    AUTHORS = "authors"


PAPER_BUDGET = Budget()


@validated
class Direct:
    """k final samples with no context except the question."""

    prompt: BasePrompt = BasePrompt.PLAIN
    budget: Budget = PAPER_BUDGET
    name: str = "direct"
    label: str = "direct"

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Sample the final answers of one question."""
        nothing = QuestionResult(question, seed, (), ((0, ()),))
        return self.add_finals(nothing, tools, num_more=self.budget.num_finals)

    def add_finals(self, result: QuestionResult, tools: Toolkit, *, num_more: int) -> Solving:
        """The same result with further final samples."""
        question, [(_, found)] = result.question, result.finals
        scope = derive_seed(result.seed, question.question_id)
        if self._promises_ideas(question.kind):
            added, _ = yield from sample_finals(
                question, (), tools, num_more, scope, 0, num_before=len(found)
            )
        else:
            prompt, seed = tools.prompts.plain(question), final_seed(scope, 0, len(found))
            [completions] = yield [tools.ask(Purpose.FINAL, prompt, num_more, seed)]
            added = tools.candidates(completions, question.kind)
        return QuestionResult(question, result.seed, (), ((0, (*found, *added)),))

    def _promises_ideas(self, kind: AnswerKind) -> bool:
        if self.prompt is BasePrompt.AUTHORS:
            return kind is not AnswerKind.NUMBER
        return self.prompt is BasePrompt.EMPTY_HISTORY
