"""Least look-ahead entropy by racing: attempts leave once they will hardly win (docs/racing.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, repeat
from math import ceil
from typing import ClassVar

from icpo.selectors.racing_bounds import (
    estimated_bits,
    highest_reachable_bits,
    lowest_reachable_bits,
    standard_error_bits,
)
from icpo.types import AskLookahead, Attempt, Lookahead, Selecting, Selection

ROUNDING_BITS = 1e-9  # above what sums of floats can be off by: equal entropies stay equal


class Rule(str, Enum):
    """Which attempts leave after an instalment.

    `halving`: the worse half. `bound`: those whose confidence interval begins above the end of the leader's.
    `exact`: those that cannot win whatever is still drawn, so that the choice is the full budget's for the
    same draws.
    """

    HALVING = "halving"
    BOUND = "bound"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class EntropyRacing:
    """Look-aheads in instalments, given only to attempts still in the race.

    `instalments` are draws per attempt and stage, the last one repeated until `num_lookaheads` are drawn.
    `width` is how many standard errors an interval of `bound` reaches to either side. `certain_after` ends
    the race once every attempt drawn for has at least so many draws that all agree (None: never); the first
    wins then, as with the full budget. `merge_identical` draws once for attempts that stand in the prompt as
    the same text, and keeps the first of them.
    """

    name: str
    rule: Rule
    instalments: tuple[int, ...]
    width: float
    certain_after: int | None
    merge_identical: bool
    needs_lookaheads: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", Rule(self.rule))
        object.__setattr__(self, "instalments", tuple(self.instalments))
        if not self.instalments or min(self.instalments) < 1:
            raise ValueError(
                f"instalments must be positive numbers, at least one, got {list(self.instalments)}"
            )
        if self.width < 0:
            raise ValueError(f"width must be at least 0, got {self.width}")
        if self.certain_after is not None and self.certain_after < 1:
            raise ValueError(f"certain_after must be null or at least 1, got {self.certain_after}")
        if self.rule is Rule.EXACT and (self.certain_after is not None or self.merge_identical):
            raise ValueError(
                "rule=exact keeps the full budget's choice only with certain_after=null merge_identical=false"
            )

    def stages(self, budget: int) -> tuple[int, ...]:
        """Draws per attempt at each stage; they add up to the budget."""
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
        """Races the attempts and keeps the one of least estimated entropy, the first of equals.

        A single starter is kept without a draw; nothing is kept where no attempt could be shown.
        """
        alive = _firsts(attempts) if self.merge_identical else list(range(len(attempts)))
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
            ranked = sorted(racing, key=lambda x: (self._estimate(x, num_lookaheads), x.attempt))
            alive = sorted(x.attempt for x in self._survivors(ranked, num_lookaheads, num_left))
            if len(alive) == 1 or self._is_certain(racing):
                break
        winner = next(x.attempt for x in ranked if x.attempt in alive)
        return Selection((winner,), tuple(seen[i] for i in sorted(seen)))

    def _is_certain(self, racing: Sequence[Lookahead]) -> bool:
        least = self.certain_after
        return least is not None and all(
            x.entropy_bits == 0 and x.votes.num_answered >= least for x in racing
        )

    def _estimate(self, lookahead: Lookahead, budget: int) -> float:
        if self.rule is Rule.EXACT:
            return lookahead.entropy_bits
        return estimated_bits(lookahead.votes, budget)

    def _interval(self, lookahead: Lookahead, budget: int) -> tuple[float, float]:
        value = estimated_bits(lookahead.votes, budget)
        reach = self.width * standard_error_bits(lookahead.votes, budget)
        return value - reach, value + reach

    def _survivors(self, ranked: Sequence[Lookahead], budget: int, num_left: int) -> Sequence[Lookahead]:
        """Those still in the race, of the attempts drawn for, best first."""
        match self.rule:
            case Rule.HALVING:
                return ranked[: ceil(len(ranked) / 2)]
            case Rule.BOUND:
                _, reach = self._interval(ranked[0], budget)
                return [x for x in ranked if self._interval(x, budget)[0] <= reach]
            case Rule.EXACT:
                reach = min(highest_reachable_bits(x.votes, num_left) for x in ranked) + ROUNDING_BITS
                return [x for x in ranked if lowest_reachable_bits(x.votes, num_left) <= reach]


def _firsts(attempts: Sequence[Attempt]) -> list[int]:
    """The first index of each idea: summary, answer and reward, which is all that a prompt shows of it."""
    firsts: dict[tuple[str, str | None, int | None], int] = {}
    for i, attempt in enumerate(attempts):
        firsts.setdefault((attempt.summary, attempt.candidate.answer, attempt.reward), i)
    return list(firsts.values())
