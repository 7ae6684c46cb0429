"""Self-consistency: the majority answer of independent samples (Wang et al. 2022)."""

from icpo.methods.electing import elect
from icpo.methods.independent import Answering, Independent
from icpo.seeding import derive_seed
from icpo.types import Budget, Purpose, Question, Step, Toolkit, validated


@validated
class SelfConsistency(Independent):
    """Each of `num_finals` answers is the majority of its own `num_samples` samples of the plain prompt."""

    name: str
    label: str
    budget: Budget

    def answer(self, question: Question, tools: Toolkit, scope: int) -> Answering:
        """One step of the trace is one poll, valued by its majority's share of the samples."""
        request = tools.ask(
            Purpose.CANDIDATE,
            tools.prompts.plain(question),
            self.budget.num_samples,
            derive_seed(scope, "sample"),
        )
        [completions] = yield [request]
        candidates = tools.candidates(completions, question.kind)
        votes = tools.votes(candidates, question.kind)
        share = votes.counts[0][1] / len(candidates) if votes.counts else 0.0
        return [Step("poll", candidates, share)], elect(candidates, votes, seed=derive_seed(scope, "tie"))
