"""What a cell needs at most, before it is run: requests, sequences, tokens, GPU hours and dollars."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from icpo.types import Purpose

TAG_TOKENS = 40  # what a summary gets around it in a prompt: its place in the list and its answer line
SUMMARY_PROMPT_TOKENS = 200  # the instruction to summarise


@dataclass(frozen=True, slots=True)
class Draws:
    """Requests of one purpose for one question; each prompt has at most `prompt_tokens`."""

    purpose: Purpose
    num_requests: int
    num_sequences: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Need:
    """An upper bound; prompts are counted once a request, as their samples share one prefill."""

    num_requests: int = 0
    num_sequences: int = 0
    prompt_tokens: int = 0
    generated_tokens: int = 0

    def __add__(self, other: "Need") -> "Need":
        return Need(
            self.num_requests + other.num_requests,
            self.num_sequences + other.num_sequences,
            self.prompt_tokens + other.prompt_tokens,
            self.generated_tokens + other.generated_tokens,
        )

    def times(self, num: int) -> "Need":
        """The need of `num` such questions."""
        return Need(
            self.num_requests * num,
            self.num_sequences * num,
            self.prompt_tokens * num,
            self.generated_tokens * num,
        )


@dataclass(frozen=True, slots=True)
class Rates:
    """What turns tokens into hours and dollars; None where unknown.

    `tokens_per_second` is what the engine generates on all its GPUs together. API prices are in dollars per
    million tokens.
    """

    num_gpus: int | None
    tokens_per_second: float | None
    gpu_hour_price: float | None
    prompt_price: float | None
    completion_price: float | None

    def __post_init__(self) -> None:
        for name in ("gpu_hour_price", "prompt_price", "completion_price"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"{name} must be null or at least 0, got {getattr(self, name)}")
        for name in ("num_gpus", "tokens_per_second"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise ValueError(f"{name} must be null or above 0, got {getattr(self, name)}")

    def gpu_hours(self, need: Need) -> float | None:
        """Hours times GPUs to generate the tokens, prefills apart; None where an API is paid instead."""
        if self.num_gpus is None or self.tokens_per_second is None or self.prompt_price is not None:
            return None
        return need.generated_tokens / self.tokens_per_second * self.num_gpus / 3600

    def dollars(self, need: Need) -> float | None:
        """The price of the GPU hours, or of the tokens where those are priced."""
        if self.prompt_price is not None and self.completion_price is not None:
            priced = need.prompt_tokens * self.prompt_price + need.generated_tokens * self.completion_price
            return priced / 1e6
        hours = self.gpu_hours(need)
        return None if hours is None or self.gpu_hour_price is None else hours * self.gpu_hour_price


def direct_draws(*, num_finals: int, question_tokens: int) -> list[Draws]:
    """The base: its finals alone. `question_tokens` is the longest prompt without ideas."""
    return [Draws(Purpose.FINAL, 1, num_finals, question_tokens)]


def me_icpo_draws(
    *,
    num_rounds: int,
    num_candidates: int,
    num_lookaheads: int,
    num_finals: int,
    finals_after: Sequence[int],
    num_kept: int,
    num_instalments: int,
    question_tokens: int,
    max_tokens: Mapping[Purpose, int],
) -> list[Draws]:
    """Algorithm 1 where every candidate has an answer and every budget is used up.

    `num_lookaheads` is 0 for a selector that draws none, `num_instalments` the requests it splits those of
    one candidate into; `num_kept` is how many attempts a round may keep.
    """
    idea_tokens = max_tokens[Purpose.SUMMARY] + TAG_TOKENS
    prompts = [question_tokens + t * num_kept * idea_tokens for t in range(num_rounds + 1)]
    summary_tokens = max_tokens[Purpose.CANDIDATE] + SUMMARY_PROMPT_TOKENS
    num_lookahead_requests = num_candidates * min(num_instalments, num_lookaheads)
    draws = []
    for prompt_tokens in prompts[:-1]:
        draws += [
            Draws(Purpose.CANDIDATE, 1, num_candidates, prompt_tokens),
            Draws(Purpose.SUMMARY, num_candidates, num_candidates, summary_tokens),
            Draws(
                Purpose.LOOKAHEAD,
                num_lookahead_requests,
                num_candidates * num_lookaheads,
                prompt_tokens + idea_tokens,
            ),
        ]
    return draws + [Draws(Purpose.FINAL, 1, num_finals, prompts[t]) for t in finals_after]


def need_of(
    draws: Iterable[Draws], max_tokens: Mapping[Purpose, int], *, context_tokens: int, supports_n: bool = True
) -> Need:
    """The need of one question: no prompt exceeds the context, no sample its budget or the context.

    Where a server gives no `n`, each sequence is a request and pays for its prompt.
    """
    total = Need()
    for draw in draws:
        num_requests = draw.num_requests if supports_n else draw.num_sequences
        total += Need(
            num_requests,
            draw.num_sequences,
            num_requests * min(draw.prompt_tokens, context_tokens),
            draw.num_sequences * min(max_tokens[draw.purpose], context_tokens),
        )
    return total


def describe(name: str, need: Need, rates: Rates) -> str:
    """One line: what a cell needs, and what it costs as far as the rates tell."""
    num_gpus = f"{rates.num_gpus} GPU{'' if rates.num_gpus == 1 else 's'}"
    speed = (
        "" if rates.tokens_per_second is None else f" at {rates.tokens_per_second:,g} tokens/s on {num_gpus}"
    )
    return _line(name, need, rates.gpu_hours(need), rates.dollars(need), speed)


def describe_total(cells: Sequence[tuple[Need, Rates]]) -> str:
    """One line for all cells of a run; hours and dollars where every cell's are known."""
    hours = [rates.gpu_hours(need) for need, rates in cells]
    dollars = [rates.dollars(need) for need, rates in cells]
    total = sum((need for need, _ in cells), Need())
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
