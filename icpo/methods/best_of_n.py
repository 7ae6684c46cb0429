"""Best-of-n: the sample that the model itself judges best."""

from collections.abc import Sequence
from dataclasses import dataclass

from icpo.methods.judging import WORST, Judge, draw_verdicts, mean_verdict
from icpo.methods.settings import require_at_least
from icpo.methods.side_by_side import side_by_side
from icpo.seeding import derive_seed
from icpo.types import Candidate, Drawing, Purpose, Question, QuestionResult, Solving, Step, Toolkit


@dataclass(frozen=True, slots=True)
class BestOfN:
    """Each of `num_finals` answers is the best of its own `num_samples`, by the mean of `num_verdicts`.

    A sample without an answer is not judged and is chosen only when no sample has one; among equals the
    earliest is taken.
    """

    name: str
    label: str
    num_samples: int
    num_verdicts: int
    num_finals: int
    judge: Judge

    def __post_init__(self) -> None:
        require_at_least(
            1, num_samples=self.num_samples, num_verdicts=self.num_verdicts, num_finals=self.num_finals
        )

    @property
    def max_sequences(self) -> int:
        """The most completions that a question may take."""
        return self.num_finals * self.num_samples * (1 + self.num_verdicts)

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """One step of the trace is one sample with its value; the samples of an answer stand together."""
        scope = derive_seed(seed, question.question_id)
        chosen = yield from side_by_side(
            self._choose(question, tools, derive_seed(scope, "answer", i)) for i in range(self.num_finals)
        )
        trace = tuple(step for steps in chosen for step in steps)
        finals = tuple(_best(steps) for steps in chosen)
        return QuestionResult(question, seed, trace, ((0, finals),))

    def _choose(self, question: Question, tools: Toolkit, scope: int) -> Drawing[list[Step]]:
        request = tools.ask(
            Purpose.CANDIDATE, tools.prompts.plain(question), self.num_samples, derive_seed(scope, "sample")
        )
        [completions] = yield [request]
        candidates = tools.candidates(completions, question.kind)
        judged = [c for c in candidates if c.answer is not None]
        texts = [tools.visible(c.completion.text) for c in judged]
        verdicts = yield from draw_verdicts(question, texts, self.judge, tools, self.num_verdicts, scope)
        values = iter([mean_verdict(given) for given in verdicts])
        return [Step("sample", (c,), None if c.answer is None else next(values)) for c in candidates]


def _best(steps: Sequence[Step]) -> Candidate:
    best = max(steps, key=lambda step: WORST - 1 if step.value is None else step.value)
    return best.candidates[0]
