"""Controls that separate explanations of ME-ICPO: a hint, another question's ideas, a repeated error."""

from collections.abc import Sequence
from dataclasses import replace

from icpo.errors import BenchmarkError
from icpo.methods.me_icpo import MeIcpo
from icpo.methods.sampling import sample_finals, sample_summaries
from icpo.methods.self_consistency import elect
from icpo.seeding import derive_seed
from icpo.types import (
    Attempt,
    Budget,
    Candidate,
    Computation,
    History,
    Purpose,
    Question,
    QuestionResult,
    Round,
    Solving,
    Step,
    Toolkit,
    Votes,
    validated,
)


def _sample_base(
    question: Question, tools: Toolkit, number: int, scope: int
) -> Computation[tuple[tuple[Candidate, ...], Votes]]:
    """Candidates of the plain prompt: the same samples as those of `direct`."""
    prompt = tools.prompts.plain(question)
    [completions] = yield [tools.ask(Purpose.FINAL, prompt, number, derive_seed(scope, "final", 0))]
    candidates = tools.candidates(completions, question.kind)
    return candidates, tools.votes(candidates, question.kind)


@validated
class MajorityHint:
    """The prompt holds direct's majority answer, tagged 1, and nothing else."""

    name: str
    label: str
    budget: Budget

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Sample final answers with the vote's winner as only attempt."""
        scope = derive_seed(seed, question.question_id)
        candidates, votes = yield from _sample_base(question, tools, self.budget.num_samples, scope)
        winner = elect(candidates, votes, seed=derive_seed(scope, "tie"))
        hint = (Attempt(winner, 1, ""),) if votes.winners else ()
        finals, num_dropped = yield from sample_finals(
            question, hint, tools, self.budget.num_finals, scope, 1
        )
        trace = (Step("base", candidates),)
        return QuestionResult(question, seed, trace, ((1, finals),), dropped_at_finals=(num_dropped,))


@validated
class RepeatedError:
    """The runner-up answer of direct's samples, probably wrong, tagged 1, once for each round."""

    name: str
    label: str
    budget: Budget

    def __post_init__(self) -> None:
        if self.budget.num_rounds < 1:
            raise ValueError("method=repeated_error shows an answer budget.num_rounds times, at least once")

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Sample final answers with the vote's runner-up as every attempt.

        Without any where all samples agree.
        """
        scope = derive_seed(seed, question.question_id)
        candidates, votes = yield from _sample_base(question, tools, self.budget.num_samples, scope)
        chosen = [candidates[votes.labels.index(label)] for label, _ in votes.counts[1:2]]
        summaries = yield from sample_summaries(question, chosen, tools)
        ideas = [Attempt(c, 1, s) for c, s in zip(chosen, summaries, strict=True)] * self.budget.num_rounds
        finals, num_dropped = yield from sample_finals(
            question, tuple(ideas), tools, self.budget.num_finals, scope, 1
        )
        trace = (Step("base", candidates),)
        return QuestionResult(question, seed, trace, ((1, finals),), dropped_at_finals=(num_dropped,))


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
        """Runs ME-ICPO on the partner, then draws this question's finals from the partner's history.

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
