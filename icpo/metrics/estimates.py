"""A mean over questions and seeds, with its 95% interval and its spread over seeds.

Shapes: Q questions, B bootstrap resamples.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

NUM_RESAMPLES = 5000
BOOTSTRAP_SEED = 0  # fixed, so that the same results give the same interval on every machine


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its 95% interval, and the standard deviation of the seeds' means (None for a single seed)."""

    value: float
    low: float
    high: float
    std_over_seeds: float | None


def estimate(values: Mapping[tuple[Hashable, int], float]) -> Estimate:
    """The mean of `values`, keyed by (question, seed), with a bootstrap interval clustered by question.

    The interval is the 2.5 and 97.5 percentile of the mean when whole questions, with all their seeds, are
    drawn again with replacement: seeds of one question are not independent, questions are. It has width 0
    when every question has the same mean, and is too narrow for a handful of questions, as percentile
    intervals are. The standard deviation over seeds is that of a sample (ddof 1), as tables give it. Raises
    ValueError when empty.
    """
    if not values:
        raise ValueError("an estimate needs at least one value, got none")
    sums_Q, counts_Q = _by_question(values)
    means_B = cluster_means(sums_Q, counts_Q)
    low, high = np.quantile(means_B, [0.025, 0.975])
    value = float(sums_Q.sum() / counts_Q.sum())
    return Estimate(value, float(low), float(high), _std_over_seeds(values))


def cluster_means(sums_Q: NDArray[np.float64], counts_Q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of B resamples of the questions, shape (B,); each question brings all its values."""
    weights_BQ = _resample_weights(len(sums_Q))
    means_B: NDArray[np.float64] = (weights_BQ @ sums_Q) / (weights_BQ @ counts_Q)
    return means_B


@lru_cache(maxsize=4)
def _resample_weights(num_questions: int) -> NDArray[np.float64]:
    """How often each question is drawn in each resample, shape (B, Q); rows sum to Q."""
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    uniform_Q = np.full(num_questions, 1 / num_questions)
    return rng.multinomial(num_questions, uniform_Q, size=NUM_RESAMPLES).astype(np.float64)


def _by_question(
    values: Mapping[tuple[Hashable, int], float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and number of values of each question, in order of first appearance."""
    grouped: dict[Hashable, list[float]] = {}
    for (question, _), value in values.items():
        grouped.setdefault(question, []).append(value)
    sums = np.array([sum(group) for group in grouped.values()], dtype=np.float64)
    counts = np.array([len(group) for group in grouped.values()], dtype=np.float64)
    return sums, counts


def _std_over_seeds(values: Mapping[tuple[Hashable, int], float]) -> float | None:
    grouped: dict[int, list[float]] = {}
    for (_, seed), value in values.items():
        grouped.setdefault(seed, []).append(value)
    if len(grouped) < 2:
        return None
    return float(np.std([np.mean(group) for group in grouped.values()], ddof=1))
