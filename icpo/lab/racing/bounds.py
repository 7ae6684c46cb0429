"""What some look-aheads say of an attempt's entropy.

The estimate's error, and what is still reachable. `budget` is the number of look-aheads that the uniform rule
would sample.
"""

from collections.abc import Sequence
from math import log2, sqrt

from icpo.selectors.racing import price_bits, silent_share
from icpo.types import Lookahead, Votes


def standard_error_bits(votes: Votes, budget: int) -> float:
    """Standard error of `estimated_bits` by the delta method, in bits.

    Var(-log2 p) / answers for the entropy, and a (1 - a) / samples times the squared price for a share a of
    silence; the two are uncorrelated. One answer not seen yet is added to the votes, without which a
    unanimous sample would seem free of error.
    """
    counts = [n for _, n in votes.counts] + [1]
    num_answered = sum(counts)
    surprises = [(n / num_answered, -log2(n / num_answered)) for n in counts]
    mean = sum(p * s for p, s in surprises)
    spread = sum(p * (s - mean) ** 2 for p, s in surprises) / num_answered
    num_samples, silent = num_answered + votes.num_abstained, silent_share(votes)
    return sqrt(spread + price_bits(budget) ** 2 * silent * (1 - silent) / num_samples)


def lowest_reachable_bits(votes: Votes, num_left: int) -> float:
    """The least that `num_left` more samples can reach: all for the leading answer."""
    counts = [n for _, n in votes.counts] or ([0] if num_left else [])
    if counts:
        counts[0] += num_left
    return _lookahead_bits(counts, votes.num_abstained)


def highest_reachable_bits(votes: Votes, num_left: int) -> float:
    """The greatest: every sample a new answer, or silence, in the worst proportion."""
    counts = [n for _, n in votes.counts]
    return max(
        _lookahead_bits(counts + [1] * (num_left - silent), votes.num_abstained + silent)
        for silent in range(num_left + 1)
    )


def _lookahead_bits(counts: Sequence[int], num_abstained: int) -> float:
    named = tuple((str(i), n) for i, n in enumerate(counts))
    return Lookahead(0, Votes(named, num_abstained)).entropy_bits
