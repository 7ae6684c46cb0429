"""Keeps an attempt at random: selection without entropy (paper, Table "Ablation")."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from icpo.types import AskLookahead, Attempt, Selecting, Selection


@dataclass(frozen=True, slots=True)
class RandomPick:
    """One attempt, uniformly by seed; no look-ahead is drawn."""

    name: str
    needs_lookaheads: ClassVar[bool] = False

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """The index drawn."""
        yield from ()
        return Selection((Random(seed).randrange(len(attempts)),) if attempts else ())
