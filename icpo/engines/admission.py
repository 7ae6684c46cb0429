"""How many requests an engine is given at once, so that its KV cache is full and never thrashes."""

from collections import defaultdict
from dataclasses import dataclass

from icpo.types import Purpose, Sampling

PRIOR_COMPLETIONS = 8  # weight of the limit against what was seen, in completions
BACKLOG = 1.25  # sequences given per sequence that runs, so that a place that falls free is taken at once
CAUTION = 0.95  # what is left of the capacity used after each preemption ...
LEAST_USE = 0.5  # ... and the share never given up


@dataclass(slots=True)
class _Lengths:
    num_completions: int = 0
    num_tokens: int = 0


class Admission:
    """Reserves cache for requests by what completions of their purpose have come to, at first by their limit.

    A running batch may outgrow the cache when completions are longer than expected; the engine then preempts
    some, which costs time and no results, and less is admitted afterwards.
    """

    def __init__(self, capacity_tokens: int, max_sequences: int, burst_sequences: int = 1) -> None:
        """`burst_sequences` above 1: once full, nothing is admitted until so many places are free."""
        self._capacity_tokens = capacity_tokens
        self._burst_sequences = burst_sequences
        self._max_sequences = int(BACKLOG * max_sequences) if burst_sequences == 1 else max_sequences
        self._is_filling = True
        self._lengths: dict[Purpose, _Lengths] = defaultdict(_Lengths)
        self._held: dict[int, tuple[int, int]] = {}
        self._held_tokens = self.num_sequences = 0
        self._use = 1.0

    def admits(
        self, ticket: int, purpose: Purpose, num_prompt_tokens: int, sampling: Sampling, num_samples: int
    ) -> bool:
        """Whether a request may start now; if so, it holds its reservation until `release`.

        A request that would be alone always may.
        """
        tokens = num_prompt_tokens + num_samples * self.expected_tokens(purpose, sampling)
        free = self._max_sequences - self.num_sequences
        self._is_filling = self._is_filling or free >= self._burst_sequences
        fits = self._held_tokens + tokens <= self._use * self._capacity_tokens and num_samples <= free
        if self._held and not (fits and self._is_filling):
            self._is_filling = False
            return False
        self._held[ticket] = (tokens, num_samples)
        self._held_tokens += tokens
        self.num_sequences += num_samples
        return True

    def expected_tokens(self, purpose: Purpose, sampling: Sampling) -> int:
        """What a completion is expected to take: the mean so far, shrunk towards the limit."""
        seen = self._lengths[purpose]
        total = seen.num_tokens + PRIOR_COMPLETIONS * sampling.max_tokens
        return min(-(-total // (seen.num_completions + PRIOR_COMPLETIONS)), sampling.max_tokens)

    def release(self, ticket: int) -> None:
        """Frees what a request held, if it did."""
        tokens, num_samples = self._held.pop(ticket, (0, 0))
        self._held_tokens -= tokens
        self.num_sequences -= num_samples

    def learn(self, purpose: Purpose, num_tokens: int) -> None:
        """Takes note of a completion's length."""
        seen = self._lengths[purpose]
        seen.num_completions += 1
        seen.num_tokens += num_tokens

    def preempted(self, num_sequences: int) -> None:
        """Takes note of preemptions, so that less is admitted from now on."""
        self._use = max(LEAST_USE, self._use * CAUTION**num_sequences)
