"""Selection without entropy: all attempts, or one at random (paper, Table "Ablation")."""

from collections.abc import Sequence
from random import Random
from typing import ClassVar

from icpo.types import AskLookahead, Attempt, Selecting, Selection, validated


@validated
class KeepAll:
    """Keeps all attempts.

    Where they do not fit the context, the oldest are dropped and counted.
    """

    name: str
    needs_lookaheads: ClassVar[bool] = False

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """Every index."""
        yield from ()
        return Selection(tuple(range(len(attempts))))


@validated
class RandomPick:
    """One attempt, uniformly by seed; no look-ahead is sampled.

    `rewarded_only` picks among the attempts with reward 1 where there are any: a control.
    """

    name: str
    rewarded_only: bool
    needs_lookaheads: ClassVar[bool] = False

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """The index chosen; nothing is kept of no attempts."""
        yield from ()
        eligible = list(range(len(attempts)))
        if self.rewarded_only:
            eligible = [i for i in eligible if attempts[i].reward == 1] or eligible
        return Selection((Random(seed).choice(eligible),) if eligible else ())
