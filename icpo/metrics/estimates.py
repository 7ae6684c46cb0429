"""A mean over questions and seeds, with interval and spread.

The interval is a 95% one; the spread is over seeds.

Shapes: Q questions; `...` any leading dimensions.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

SHARE = (0.0, 1.0)
DIFFERENCE = (-1.0, 1.0)
CONFIDENCE = 0.95

Values = Mapping[tuple[Hashable, int], float]  # by (question, seed)
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its 95% interval and its deviation over seeds.

    The deviation is that of the seeds' means; None for a single seed.
    """

    value: float
    low: float
    high: float
    std_over_seeds: float | None


def estimate(values: Values, span: tuple[float, float] = SHARE) -> Estimate:
    """Mean of `values` with an interval clustered by question; see `mean_interval`.

    `span` bounds the values. The deviation over seeds is that of a sample (ddof 1). Raises ValueError where
    `values` is empty or leaves the span.
    """
    return estimate_ratio(values, dict.fromkeys(values, 1.0), span)


def estimate_ratio(values: Values, weights: Values, span: tuple[float, float] = SHARE) -> Estimate:
    """Ratio of sums, such as right answers among those read.

    Raises ValueError where all weights are 0, or a value divided by its weight leaves the span.
    """
    if not sum(weights.values()):
        raise ValueError("an estimate needs at least one value, got none")
    for key, number in values.items():
        if not span[0] * weights[key] - 1e-9 <= number <= span[1] * weights[key] + 1e-9:
            raise ValueError(f"{key} has {number}, outside {list(span)}; pass the span of these values")
    sums, counts = _by_question(values), _by_question(weights)
    value, low, high = mean_interval(np.array([*sums.values()]), np.array([*counts.values()]), span)
    return Estimate(float(value), float(low), float(high), _std_over_seeds(values, weights))


def mean_interval(
    sums: Array, counts: Array, span: tuple[float, float] = SHARE
) -> tuple[Array, Array, Array]:
    """Mean, lower and upper bound over questions, each of shape (...).

    Takes sums and numbers of values of each question, (..., Q). A 95% Student interval over questions, whose
    seeds are not independent, with two pseudo-questions, one at each end of the span (Agresti and Caffo 2000
    add them to two proportions). They bound the interval where questions agree: with n of n questions right
    it begins near 1 - 3/n. Questions without values (count 0) do not count. experiments/intervals measures
    the coverage.
    """
    low, high = span
    num = (counts > 0).sum(-1)
    total = counts.sum(-1)
    value = sums.sum(-1) / total
    # Each question's influence on the ratio, on the scale of a question's mean (delta method).
    deviations = (sums - value[..., None] * counts) * (num / total)[..., None]
    ends = np.stack([low - value, high - value], axis=-1)
    shift = ends.sum(-1) / (num + 2)
    squares = (deviations**2).sum(-1) + (ends**2).sum(-1) - (num + 2) * shift**2
    error = np.sqrt(squares / (num + 1) / (num + 2))
    reach = stdtrit(np.maximum(num - 1, 1), (1 + CONFIDENCE) / 2) * error
    centre = value + shift
    return value, np.maximum(centre - reach, low), np.minimum(centre + reach, high)


def _by_question(values: Values) -> dict[Hashable, float]:
    """Sum of each question's values, in order of first appearance."""
    sums: dict[Hashable, float] = {}
    for (question, _), value in values.items():
        sums[question] = sums.get(question, 0.0) + value
    return sums


def _std_over_seeds(values: Values, weights: Values) -> float | None:
    sums: dict[int, float] = {}
    counts: dict[int, float] = {}
    for (question, seed), value in values.items():
        sums[seed] = sums.get(seed, 0.0) + value
        counts[seed] = counts.get(seed, 0.0) + weights[question, seed]
    means = [sums[seed] / counts[seed] for seed in sums if counts[seed]]
    return float(np.std(means, ddof=1)) if len(means) > 1 else None
