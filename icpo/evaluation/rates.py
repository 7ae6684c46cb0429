"""Hours and dollars of a run, from its largest need."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from icpo.types import validated


@dataclass(frozen=True, slots=True)
class Need:
    """An upper bound of requests and tokens; a prompt counts once."""

    num_requests: int = 0
    num_sequences: int = 0
    prompt_tokens: int = 0
    generated_tokens: int = 0

    def __add__(self, other: "Need") -> "Need":
        return Need(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def times(self, num: int) -> "Need":
        """The need of `num` such questions."""
        return Need(*(num * count for count in astuple(self)))

    def or_more(self, other: "Need") -> "Need":
        """The greater of each count."""
        return Need(*map(max, zip(astuple(self), astuple(other), strict=True)))


@validated
class Rates:
    """What turns tokens into hours and dollars; None where unknown.

    `tokens_per_second` is what the engine generates on all its GPUs together. API prices are in dollars per
    million tokens.
    """

    num_gpus: PositiveInt | None
    tokens_per_second: PositiveFloat | None
    gpu_hour_price: NonNegativeFloat | None
    prompt_price: NonNegativeFloat | None
    completion_price: NonNegativeFloat | None

    def gpu_hours(self, need: Need) -> float | None:
        """GPU hours to generate the tokens; None for an API."""
        if self.num_gpus is None or self.tokens_per_second is None or self.prompt_price is not None:
            return None
        return need.generated_tokens / self.tokens_per_second * self.num_gpus / 3600

    def dollars(self, need: Need) -> float | None:
        """The price of the GPU hours or of the tokens."""
        if self.prompt_price is not None and self.completion_price is not None:
            priced = need.prompt_tokens * self.prompt_price + need.generated_tokens * self.completion_price
            return priced / 1e6
        hours = self.gpu_hours(need)
        return None if hours is None or self.gpu_hour_price is None else hours * self.gpu_hour_price


def describe(name: str, need: Need, rates: Rates) -> str:
    """A line on a cell's need and its cost."""
    num_gpus = f"{rates.num_gpus} GPU{'' if rates.num_gpus == 1 else 's'}"
    speed = (
        "" if rates.tokens_per_second is None else f" at {rates.tokens_per_second:,g} tokens/s on {num_gpus}"
    )
    return _line(name, need, rates.gpu_hours(need), rates.dollars(need), speed)


def describe_total(cells: Sequence[tuple[Need, Rates]]) -> str:
    """A line on the need and cost of all cells."""
    hours = [rates.gpu_hours(need) for need, rates in cells]
    dollars = [rates.dollars(need) for need, rates in cells]
    total = sum((need for need, _ in cells), start=Need())
    return _line(f"all {len(cells)} cells", total, _sum(hours), _sum(dollars))


def _line(name: str, need: Need, hours: float | None, dollars: float | None, speed: str = "") -> str:
    parts = [
        f"{need.num_requests:,} requests",
        f"{need.num_sequences:,} sequences",
        f"{need.prompt_tokens / 1e6:,.1f}M prompt tokens",
        f"{need.generated_tokens / 1e6:,.1f}M generated tokens",
    ]
    if hours is not None:
        parts.append(f"{hours:,.1f} GPU hours{speed}")
    if dollars is not None:
        parts.append(f"{dollars:,.2f} dollars")
    return f"{name}: at most " + ", ".join(parts)


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
