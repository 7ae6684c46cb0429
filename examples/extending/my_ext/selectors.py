"""Keeps the attempt after which answers are shortest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from icpo.types import AskLookahead, Attempt, Lookahead, Selecting, Selection


@dataclass(frozen=True, slots=True)
class Shortest:
    """Least mean tokens of the look-aheads wins; the first of equals."""

    name: str
    needs_lookaheads: ClassVar[bool] = True

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """Samples the full budget for every attempt; none is kept where none could be shown."""
        lookaheads = yield from ask({i: num_lookaheads for i in range(len(attempts))})
        if not lookaheads:
            return Selection(())
        best = min(lookaheads, key=lambda one: (_mean_tokens(one), one.attempt))
        return Selection((best.attempt,), tuple(lookaheads))


def _mean_tokens(lookahead: Lookahead) -> float:
    tokens = [c.completion.num_completion_tokens for c in lookahead.candidates]
    return sum(tokens) / len(tokens)
