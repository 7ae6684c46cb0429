"""Selects nothing away: every eligible attempt of the round enters the history."""

from collections.abc import Sequence
from typing import ClassVar

from icpo.types import AskLookahead, Attempt, Selecting, Selection, validated


@validated
class KeepAll:
    """All attempts are kept; where they no longer fit the context the oldest are dropped and counted."""

    name: str
    needs_lookaheads: ClassVar[bool] = False

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """Every index."""
        yield from ()
        return Selection(tuple(range(len(attempts))))
