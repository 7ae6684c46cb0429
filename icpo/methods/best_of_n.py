"""Best-of-n: the sample that the model itself judges best."""

from pydantic import PositiveInt

from icpo.methods.independent import Answering, Independent
from icpo.methods.judging import WORST, Judge, Verdicts, mean_verdict, sample_verdicts
from icpo.methods.sampling import sample_plain
from icpo.types import Budget, Candidate, Question, Step, Toolkit, validated


@validated
class BestOfN(Independent):
    """Answers that are each the best of their own samples.

    Each of `num_finals` has `num_samples`, judged by the mean of `num_verdicts`. A sample without an answer
    is not judged and is chosen only when no sample has one; among equals the earliest is taken.
    """

    name: str
    label: str
    budget: Budget
    num_verdicts: PositiveInt
    judge: Judge

    def answer(self, question: Question, tools: Toolkit, scope: int) -> Answering:
        """One step of the trace is one sample with its value."""
        candidates = yield from sample_plain(question, tools, self.budget.num_samples, scope)
        judged = [c for c in candidates if c.answer is not None]
        texts = [tools.visible(c.completion.text) for c in judged]
        verdicts = yield from sample_verdicts(question, texts, self.judge, tools, self.num_verdicts, scope)
        given = iter(verdicts)
        steps = [_step(c, None if c.answer is None else next(given)) for c in candidates]
        best = max(steps, key=lambda step: WORST - 1 if step.value is None else step.value)
        return steps, best.candidates[0]


def _step(candidate: Candidate, verdicts: Verdicts | None) -> Step:
    """A sample with the verdicts on it; None for one that was not judged."""
    if verdicts is None:
        return Step("sample", (candidate,))
    return Step("sample", (candidate,), mean_verdict(verdicts), verdicts=verdicts)
