"""Least look-ahead entropy by racing: candidates leave once they will hardly win (docs/racing.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import ceil, log, log2, sqrt
from typing import ClassVar

from icpo.types import AskLookahead, Attempt, Lookahead, Selecting, Selection, Votes


class Rule(str, Enum):
    """Which candidates leave after an instalment.

    `halving`: the worse half. `bound`: those whose confidence interval lies above the leader's. `exact`:
    those that cannot win whatever is still drawn, so that the choice is the uniform budget's for the same
    draws.
    """

    HALVING = "halving"
    BOUND = "bound"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class EntropyRacing:
    """Look-aheads in instalments, given only to candidates still in the race.

    `instalments` are draws per candidate and stage; they end early at the budget. `width` is how many
    standard errors an interval of `bound` reaches to either side. `stop_when_certain` ends the race once the
    leader's draws all agree: of several such candidates the first wins, as with the full budget.
    """

    name: str
    rule: Rule
    instalments: tuple[int, ...]
    width: float
    stop_when_certain: bool
    needs_lookaheads: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", Rule(self.rule))
        object.__setattr__(self, "instalments", tuple(self.instalments))
        if not self.instalments or min(self.instalments) < 1:
            raise ValueError(
                f"instalments must be positive numbers, at least one, got {list(self.instalments)}"
            )
        if self.rule is Rule.EXACT and self.stop_when_certain:
            raise ValueError("rule=exact keeps the full budget's choice only with stop_when_certain=false")
        if self.width < 0:
            raise ValueError(f"width must be at least 0, got {self.width}")

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """Races the attempts and keeps the survivor of least estimated entropy, the first of equals."""
        racing: dict[int, Lookahead] = {}
        left: dict[int, Lookahead] = {}
        alive = list(range(len(attempts)))
        num_drawn = 0
        for size in self.instalments:
            size = min(size, num_lookaheads - num_drawn)
            if size < 1 or not alive or (num_drawn and self._is_over(racing)):
                break
            racing = {x.attempt: x for x in (yield from ask(dict.fromkeys(alive, size)))}
            num_drawn += size
            alive = self._survivors(racing, num_lookaheads - num_drawn)
            left |= {i: x for i, x in racing.items() if i not in alive}
            racing = {i: racing[i] for i in alive}
        if not racing:
            return Selection(())
        winner = min(racing.values(), key=self._rank).attempt
        return Selection((winner,), tuple(sorted((left | racing).values(), key=lambda x: x.attempt)))

    def _is_over(self, racing: Mapping[int, Lookahead]) -> bool:
        leader = min(racing.values(), key=self._rank)
        return len(racing) == 1 or (self.stop_when_certain and leader.entropy_bits == 0)

    def _rank(self, lookahead: Lookahead) -> tuple[float, int]:
        estimate = lookahead.entropy_bits if self.rule is Rule.EXACT else miller_madow_bits(lookahead)
        return estimate, lookahead.attempt

    def _survivors(self, racing: Mapping[int, Lookahead], num_left: int) -> list[int]:
        ranked = sorted(racing.values(), key=self._rank)
        leader = ranked[0]
        match self.rule:
            case Rule.HALVING:
                kept = ranked[: ceil(len(ranked) / 2)]
            case Rule.BOUND:
                reach = miller_madow_bits(leader) + self.width * standard_error_bits(leader)
                kept = [
                    x for x in ranked if miller_madow_bits(x) - self.width * standard_error_bits(x) <= reach
                ]
            case Rule.EXACT:
                reach = min(highest_reachable_bits(x.votes, num_left) for x in ranked)
                kept = [x for x in ranked if lowest_reachable_bits(x.votes, num_left) <= reach]
        return sorted(x.attempt for x in kept)


def miller_madow_bits(lookahead: Lookahead) -> float:
    """The plug-in entropy of a look-ahead plus Miller and Madow's (classes - 1) / (2 draws), in bits."""
    num_answered = lookahead.votes.num_answered
    if num_answered == 0:
        return lookahead.entropy_bits
    return lookahead.entropy_bits + (len(lookahead.votes.counts) - 1) / (2 * num_answered * log(2))


def standard_error_bits(lookahead: Lookahead) -> float:
    """Standard error of the plug-in entropy by the delta method, in bits, with one unseen answer added.

    The addition keeps the error of a unanimous sample above 0.
    """
    counts = [n for _, n in lookahead.votes.counts] + [1]
    total = sum(counts)
    surprises = [(n / total, -log2(n / total)) for n in counts]
    mean = sum(p * s for p, s in surprises)
    return sqrt(sum(p * (s - mean) ** 2 for p, s in surprises) / total)


def lowest_reachable_bits(votes: Votes, num_left: int) -> float:
    """The least entropy that `num_left` more draws can lead to: all of them for the leading answer."""
    counts = [n for _, n in votes.counts] or ([0] if num_left else [])
    if counts:
        counts[0] += num_left
    return _lookahead_bits(counts, votes.num_abstained)


def highest_reachable_bits(votes: Votes, num_left: int) -> float:
    """The greatest: every draw a new answer of its own, or an abstention, in the worst proportion."""
    counts = [n for _, n in votes.counts]
    return max(
        _lookahead_bits(counts + [1] * (num_left - silent), votes.num_abstained + silent)
        for silent in range(num_left + 1)
    )


def _lookahead_bits(counts: Sequence[int], num_abstained: int) -> float:
    named = tuple((str(i), n) for i, n in enumerate(counts))
    return Lookahead(0, Votes(named, num_abstained)).entropy_bits
