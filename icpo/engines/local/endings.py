"""When a row ends, and the text it then has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from icpo.engines.local.prefixes import Tokens
from icpo.types import FinishReason, Sampling


@dataclass(frozen=True, slots=True)
class Row:
    """One sample to be made: sample `index` of request `request`.

    `sampling` is clipped to the room that the context leaves; `seed` is the sample's own.
    """

    prompt: Tokens
    sampling: Sampling
    seed: int
    request: int
    index: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A row's text, without its end, and its number of tokens."""

    text: str
    num_tokens: int
    finish_reason: FinishReason


class Endings:
    """Ends rows at an end token, stop string or limit."""

    def __init__(
        self, end_ids: Sequence[int], decode: Callable[[Sequence[int]], str], vocabulary: int
    ) -> None:
        self.end_ids = sorted(end_ids)
        self._decode, self._vocabulary = decode, vocabulary

    @cached_property
    def _pieces(self) -> list[str]:
        return [self._decode([token]) for token in range(self._vocabulary)]

    def suspects(self, rows: Sequence[Row]) -> NDArray[np.bool_]:
        """Which tokens may end a row, by id.

        End tokens, and those that may complete a stop string. A stop string ends in its last character:
        tokens that hold it, or part of a character, are suspect.
        """
        suspects = np.zeros(self._vocabulary, dtype=bool)
        suspects[self.end_ids] = True
        if last := {stop[-1] for row in rows for stop in row.sampling.stop}:
            suspects |= [bool(last & set(piece)) or "\ufffd" in piece for piece in self._pieces]
        return suspects

    def end(self, row: Row, tokens: Sequence[int]) -> Ended | None:
        """The end of the row if its last token ended it, else None."""
        size = len(tokens)
        if tokens[-1] in self.end_ids:
            return Ended(self._decode(tokens[:-1]), size, FinishReason.STOP)
        if row.sampling.stop and size > row.sampling.min_tokens:
            text = self._decode(tokens)
            places = [place for stop in row.sampling.stop if (place := text.find(stop)) >= 0]
            if places:
                return Ended(text[: min(places)], size, FinishReason.STOP)
        if size >= row.sampling.max_tokens:
            return Ended(self._decode(tokens), size, FinishReason.LENGTH)
        return None
