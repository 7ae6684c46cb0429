"""The majority among several candidates, when one of them must be the answer."""

from collections.abc import Sequence
from random import Random

from icpo.types import Candidate, Votes


def elect(candidates: Sequence[Candidate], votes: Votes, *, seed: int) -> Candidate:
    """The first candidate whose answer is of the majority's class; the first of all when nobody answered.

    `votes` must be those of `candidates`, at least one; a tie is broken by a draw from `seed`.
    """
    if not votes.winners:
        return candidates[0]
    return candidates[votes.labels.index(Random(seed).choice(votes.winners))]
