"""What some look-aheads of an attempt say of its entropy: estimate, error, and what can still be reached.

`budget` is the number of look-aheads that the uniform rule would draw: the price of silence, log2(budget)
times the share of abstentions (docs/paper_notes.md), is the same at every stage of a race.
"""

from collections.abc import Sequence
from math import log, log2, sqrt

from icpo.types import Lookahead, Votes


def estimated_bits(votes: Votes, budget: int) -> float:
    """The entropy behind the votes, in bits: plug-in, Miller and Madow's correction, price of silence.

    The correction, (classes - 1) / (2 answers) nats, is the leading term of the plug-in's bias, which is
    downward. Without any answer it is what a look-ahead of silence costs, 5 log2(budget).
    """
    if votes.num_answered == 0:
        return 5 * _price_bits(budget)
    correction = (len(votes.counts) - 1) / (2 * votes.num_answered * log(2))
    return votes.entropy_bits + correction + _price_bits(budget) * _silent_share(votes)


def standard_error_bits(votes: Votes, budget: int) -> float:
    """Standard error of `estimated_bits` by the delta method, in bits.

    Var(-log2 p) / answers for the entropy, and a (1 - a) / draws times the squared price for a share a of
    silence; the two are uncorrelated. One answer not seen yet is added to the votes, without which a
    unanimous sample would seem free of error.
    """
    counts = [n for _, n in votes.counts] + [1]
    num_answered = sum(counts)
    surprises = [(n / num_answered, -log2(n / num_answered)) for n in counts]
    mean = sum(p * s for p, s in surprises)
    spread = sum(p * (s - mean) ** 2 for p, s in surprises) / num_answered
    num_draws, silent = num_answered + votes.num_abstained, _silent_share(votes)
    return sqrt(spread + _price_bits(budget) ** 2 * silent * (1 - silent) / num_draws)


def lowest_reachable_bits(votes: Votes, num_left: int) -> float:
    """The least that `num_left` more draws can lead to: all of them for the leading answer."""
    counts = [n for _, n in votes.counts] or ([0] if num_left else [])
    if counts:
        counts[0] += num_left
    return _lookahead_bits(counts, votes.num_abstained)


def highest_reachable_bits(votes: Votes, num_left: int) -> float:
    """The greatest: every draw a new answer of its own, or silence, in the worst proportion."""
    counts = [n for _, n in votes.counts]
    return max(
        _lookahead_bits(counts + [1] * (num_left - silent), votes.num_abstained + silent)
        for silent in range(num_left + 1)
    )


def _lookahead_bits(counts: Sequence[int], num_abstained: int) -> float:
    named = tuple((str(i), n) for i, n in enumerate(counts))
    return Lookahead(0, Votes(named, num_abstained)).entropy_bits


def _price_bits(budget: int) -> float:
    return log2(max(budget, 2))


def _silent_share(votes: Votes) -> float:
    return votes.num_abstained / max(votes.num_abstained + votes.num_answered, 1)
