"""Selection by least look-ahead entropy (paper, Algorithm 1, line 6)."""

from collections.abc import Sequence
from typing import ClassVar

from icpo.types import AskLookahead, Attempt, Selecting, Selection, validated


@validated
class Entropy:
    """Keeps the attempt of least look-ahead entropy, the first of equals.

    Keeps none where no attempt could be shown. `largest` keeps the most uncertain instead, as a control.
    """

    name: str = "entropy"
    largest: bool = False
    needs_lookaheads: ClassVar[bool] = True

    def select(
        self, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
    ) -> Selecting:
        """Sample the full budget for every attempt and keep the least uncertain."""
        lookaheads = yield from ask({i: num_lookaheads for i in range(len(attempts))})
        if not lookaheads:
            return Selection(())
        sign = -1 if self.largest else 1
        best = min(lookaheads, key=lambda lookahead: (sign * lookahead.entropy_bits, lookahead.attempt))
        return Selection((best.attempt,), tuple(lookaheads))
