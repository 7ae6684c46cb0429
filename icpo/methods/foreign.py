"""A control: the ideas that ME-ICPO found for another question."""

from collections.abc import Sequence
from dataclasses import replace

from icpo.errors import BenchmarkError
from icpo.methods.me_icpo import MeIcpo
from icpo.methods.sampling import sample_finals
from icpo.seeding import derive_seed
from icpo.types import Budget, History, Question, QuestionResult, Round, Solving, Step, Toolkit, validated


@validated
class Foreign:
    """The ideas that ME-ICPO found for another question of the benchmark."""

    name: str
    label: str
    inner: MeIcpo
    partners: tuple[tuple[str, Question], ...] = ()

    @property
    def budget(self) -> Budget:
        """ME-ICPO's."""
        return self.inner.budget

    def among(self, questions: Sequence[Question]) -> "Foreign":
        """The same method, each question's ideas coming from the next one's run.

        Raises BenchmarkError below two questions: a question's own ideas are not foreign.
        """
        if len(questions) < 2:
            raise BenchmarkError(
                "method=foreign shows a question another's ideas: it needs at least two questions, "
                f"and there is {len(questions)}. Raise benchmark.limit or take another benchmark."
            )
        following = [*questions[1:], *questions[:1]]
        return replace(
            self, partners=tuple((q.question_id, p) for q, p in zip(questions, following, strict=True))
        )

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Run ME-ICPO on the partner, then sample finals with its history.

        The trace holds the ideas alone: the partner's rounds are no answers to this question.
        """
        partner = dict(self.partners)[question.question_id]
        result = yield from self.inner.solve(partner, tools, seed=seed)
        rounds = [step for step in result.trace if isinstance(step, Round)]
        history: History = tuple(done.attempts[i] for done in rounds for i in done.kept)
        scope = derive_seed(seed, question.question_id)
        finals, num_dropped = yield from sample_finals(
            question, history, tools, self.inner.budget.num_finals, scope, self.inner.num_rounds
        )
        ideas = tuple(Step("foreign idea", (idea.candidate,), idea.reward) for idea in history)
        at_end = ((self.inner.num_rounds, finals),)
        return QuestionResult(question, seed, ideas, at_end, dropped_at_finals=(num_dropped,))
