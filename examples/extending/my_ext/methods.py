"""Answers with the shortest of several samples."""

from dataclasses import dataclass

from icpo.seeding import derive_seed
from icpo.types import Budget, Candidate, Purpose, Question, QuestionResult, Solving, Step, Toolkit


@dataclass(frozen=True, slots=True)
class ShortestOfN:
    """Each of `num_finals` answers is the shortest of its own `num_samples` samples that has one."""

    name: str
    label: str
    budget: Budget

    def solve(self, question: Question, tools: Toolkit, *, seed: int) -> Solving:
        """Asks for all samples at once; one step of the trace is the samples of one answer."""
        scope = derive_seed(seed, question.question_id)
        prompt = tools.prompts.plain(question)
        batches = yield [
            tools.ask(Purpose.CANDIDATE, prompt, self.budget.num_samples, derive_seed(scope, "sample", i))
            for i in range(self.budget.num_finals)
        ]
        samples = [tools.candidates(completions, question.kind) for completions in batches]
        finals = tuple(min(some, key=_length) for some in samples)
        trace = tuple(Step("samples", some) for some in samples)
        return QuestionResult(question, seed, trace, ((0, finals),))


def _length(candidate: Candidate) -> tuple[bool, int]:
    return candidate.answer is None, candidate.completion.num_completion_tokens
