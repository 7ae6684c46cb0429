"""Self-consistency: the majority answer of independent samples (Wang et al. 2022)."""

from collections.abc import Sequence
from random import Random

from icpo.methods.independent import Answering, Independent
from icpo.methods.sampling import sample_plain
from icpo.seeding import derive_seed
from icpo.types import Budget, Candidate, Question, Step, Toolkit, Votes, validated


@validated
class SelfConsistency(Independent):
    """`num_finals` answers, each the majority of its own `num_samples` samples."""

    name: str
    label: str
    budget: Budget

    def answer(self, question: Question, tools: Toolkit, scope: int) -> Answering:
        """One vote, as a step valued by its majority's share."""
        candidates = yield from sample_plain(question, tools, self.budget.num_samples, scope)
        votes = tools.votes(candidates, question.kind)
        share = votes.counts[0][1] / len(candidates) if votes.counts else 0.0
        return [Step("poll", candidates, share)], elect(candidates, votes, seed=derive_seed(scope, "tie"))


def elect(candidates: Sequence[Candidate], votes: Votes, *, seed: int) -> Candidate:
    """The first candidate with the majority answer.

    The first of all when nobody answered. `votes` must be those of `candidates`, at least one; a tie is
    broken at random, by `seed`.
    """
    if not votes.winners:
        return candidates[0]
    return candidates[votes.labels.index(Random(seed).choice(votes.winners))]
