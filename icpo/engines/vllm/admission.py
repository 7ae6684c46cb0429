"""Admission of requests: the KV cache is full and never thrashes."""

from collections import defaultdict
from dataclasses import dataclass

from icpo.types import Purpose, Sampling

PRIOR_COMPLETIONS = 8  # weight of the limit against what was seen, in completions
BACKLOG = 2  # sequences given per sequence that runs: all may end in one step, and others are there to start
CAUTION = 0.95  # what is left of the capacity used after each preemption ...
LEAST_USE = 0.5  # ... and the share never given up


@dataclass(slots=True)
class _Lengths:
    num_completions: int = 0
    num_tokens: int = 0


class Admission:
    """Reserves cache for requests by expected lengths.

    These are what completions of their purpose have come to, at first their limit. A running batch may
    outgrow the cache when completions are longer than expected; the engine then preempts some, which costs
    time and no results, and less is admitted afterwards.
    """

    def __init__(self, capacity_tokens: int, max_sequences: int) -> None:
        """`max_sequences` run at once; twice as many are admitted."""
        self._capacity_tokens = capacity_tokens
        self._max_sequences = BACKLOG * max_sequences
        self._lengths: dict[Purpose, _Lengths] = defaultdict(_Lengths)
        self._held: dict[int, tuple[int, int]] = {}
        self._held_tokens = self.num_sequences = 0
        self._use = 1.0

    def admits(
        self, ticket: int, purpose: Purpose, num_prompt_tokens: int, sampling: Sampling, num_samples: int
    ) -> bool:
        """Whether a request may start now, with its reservation made.

        A request that would be alone always may.
        """
        tokens = num_prompt_tokens + num_samples * self.expected_tokens(purpose, sampling)
        has_place = self.num_sequences + num_samples <= self._max_sequences
        has_cache = self._held_tokens + tokens <= self._use * self._capacity_tokens
        if self._held and not (has_place and has_cache):
            return False
        self._held[ticket] = (tokens, num_samples)
        self._held_tokens += tokens
        self.num_sequences += num_samples
        return True

    def expected_tokens(self, purpose: Purpose, sampling: Sampling) -> int:
        """Expected tokens: the mean so far, shrunk towards the limit."""
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
