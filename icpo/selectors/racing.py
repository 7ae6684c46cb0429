"""Least look-ahead entropy by racing (docs/racing.md)."""

from collections.abc import Sequence
from itertools import chain, repeat
from math import ceil, log, log2
from typing import Annotated, ClassVar

from pydantic import Field, PositiveInt

from icpo.types import AskLookahead, Attempt, Lookahead, Selecting, Selection, Votes, validated


@validated
class EntropyRacing:
    """Look-aheads in instalments, given only to attempts still in the race.

    `instalments` are samples per attempt and stage, the last one repeated until `num_lookaheads` are sampled.
    Other rules override who enters, who stays, by what they are compared and when the race is over
    (icpo/lab/racing).
    """

    name: str
    instalments: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    needs_lookaheads: ClassVar[bool] = True

    def entrants(self, attempts: Sequence[Attempt]) -> list[int]:
        """The attempts that start."""
        return list(range(len(attempts)))

    def estimate(self, lookahead: Lookahead, budget: int) -> float:
        """What attempts are ranked by, least first, in bits."""
        return estimated_bits(lookahead.votes, budget)

    def survivors(self, ranked: Sequence[Lookahead], budget: int, num_left: int) -> Sequence[Lookahead]:
        """The attempts that stay in the race, best first.

        `num_left` samples of each may follow.
        """
        return ranked[: ceil(len(ranked) / 2)]

    def is_over(self, racing: Sequence[Lookahead]) -> bool:
        """Whether the race ends though several attempts are left."""
        return False

    def stages(self, budget: int) -> tuple[int, ...]:
        """Samples per attempt at each stage; they add up to the budget."""
        sizes: list[int] = []
        for size in chain(self.instalments, repeat(self.instalments[-1])):
            left = budget - sum(sizes)
            if left < 1:
                break
            sizes.append(min(size, left))
        return tuple(sizes)

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """Race the attempts; keep the one of least estimated entropy.

        A single entrant is kept without a look-ahead; nothing is kept where no attempt could be shown.
        """
        alive = self.entrants(attempts)
        if len(alive) < 2:
            return Selection(tuple(alive))
        seen: dict[int, Lookahead] = {}
        num_left = num_lookaheads
        for size in self.stages(num_lookaheads):
            racing = yield from ask(dict.fromkeys(alive, size))
            if not racing:
                return Selection(())
            num_left -= size
            seen |= {x.attempt: x for x in racing}
            ranked = sorted(racing, key=lambda x: (self.estimate(x, num_lookaheads), x.attempt))
            alive = sorted(x.attempt for x in self.survivors(ranked, num_lookaheads, num_left))
            if len(alive) == 1 or self.is_over(racing):
                break
        winner = next(x.attempt for x in ranked if x.attempt in alive)
        return Selection((winner,), tuple(seen[i] for i in sorted(seen)))


def estimated_bits(votes: Votes, budget: int) -> float:
    """The entropy behind the votes, in bits, corrected for its bias.

    The sum of the plug-in, Miller and Madow's correction and the price of silence. The correction, (classes -
    1) / (2 answers) nats, is the leading term of the plug-in's bias, which is downward. The price of silence
    (docs/paper_notes.md) is log2 of the whole budget times the share of abstentions, the same at every stage;
    without any answer it is 5 log2(budget).
    """
    if votes.num_answered == 0:
        return 5 * price_bits(budget)
    correction = (len(votes.counts) - 1) / (2 * votes.num_answered * log(2))
    return votes.entropy_bits + correction + price_bits(budget) * silent_share(votes)


def price_bits(budget: int) -> float:
    """The price of a look-ahead without an answer."""
    return log2(max(budget, 2))


def silent_share(votes: Votes) -> float:
    """The share of abstentions."""
    return votes.num_abstained / max(votes.num_abstained + votes.num_answered, 1)
