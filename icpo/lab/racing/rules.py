"""Races by other rules; each is `EntropyRacing` with one thing changed."""

from collections.abc import Sequence

from pydantic import NonNegativeFloat, PositiveInt

from icpo.lab.racing.bounds import highest_reachable_bits, lowest_reachable_bits, standard_error_bits
from icpo.selectors import EntropyRacing
from icpo.selectors.racing import estimated_bits
from icpo.types import Attempt, Lookahead, validated

ROUNDING_BITS = 1e-9  # above what sums of floats can be off by: equal entropies stay equal


@validated
class Certain(EntropyRacing):
    """Ends a race once every attempt in it is certain.

    It has `certain_after` samples or more that all agree. The first attempt wins then, as with the full
    budget. None never ends it.
    """

    certain_after: PositiveInt | None

    def is_over(self, racing: Sequence[Lookahead]) -> bool:
        """Whether all agree with themselves."""
        least = self.certain_after
        return least is not None and all(
            x.entropy_bits == 0 and x.votes.num_answered >= least for x in racing
        )


@validated
class Bound(Certain):
    """Those leave whose confidence interval begins above the end of the leader's.

    `width` is how many standard errors an interval reaches to either side.
    """

    width: NonNegativeFloat

    def survivors(self, ranked: Sequence[Lookahead], budget: int, num_left: int) -> Sequence[Lookahead]:
        """Those whose interval meets the leader's."""
        _, reach = self._interval(ranked[0], budget)
        return [x for x in ranked if self._interval(x, budget)[0] <= reach]

    def _interval(self, lookahead: Lookahead, budget: int) -> tuple[float, float]:
        value = estimated_bits(lookahead.votes, budget)
        reach = self.width * standard_error_bits(lookahead.votes, budget)
        return value - reach, value + reach


@validated
class Exact(EntropyRacing):
    """Drops attempts that cannot win: the full budget's choice."""

    def estimate(self, lookahead: Lookahead, budget: int) -> float:
        """The entropy that the full budget compares."""
        return lookahead.entropy_bits

    def survivors(self, ranked: Sequence[Lookahead], budget: int, num_left: int) -> Sequence[Lookahead]:
        """Those whose least reachable entropy is no more than every greatest."""
        reach = min(highest_reachable_bits(x.votes, num_left) for x in ranked) + ROUNDING_BITS
        return [x for x in ranked if lowest_reachable_bits(x.votes, num_left) <= reach]


@validated
class Merged(EntropyRacing):
    """Attempts that read the same in a prompt enter once."""

    def entrants(self, attempts: Sequence[Attempt]) -> list[int]:
        """The first attempt of each summary, answer and reward."""
        firsts: dict[tuple[str, str | None, int | None], int] = {}
        for i, attempt in enumerate(attempts):
            firsts.setdefault((attempt.summary, attempt.candidate.answer, attempt.reward), i)
        return list(firsts.values())
