"""Controls that replace ME-ICPO's ideas by a hint or an error."""

from icpo.methods.sampling import sample_finals, sample_summaries
from icpo.methods.self_consistency import elect
from icpo.seeding import derive_seed
from icpo.types import (
    Attempt,
    Budget,
    Candidate,
    Computation,
    Purpose,
    Question,
    QuestionResult,
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
    """The runner-up of direct's vote as every idea, tagged 1."""

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
