"""Metrics of one set of final samples, in [0, 1]."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from math import comb

from icpo.metrics.estimates import Estimate, estimate, estimate_ratio
from icpo.types import GradedFinals, Outcome


def mean_at_k(finals: GradedFinals) -> float:
    """Share of the k finals that are correct (paper, Section 5.1)."""
    return finals.num_correct / len(finals.outcomes)


def accuracy(finals: GradedFinals) -> float:
    """1.0 if the first final sample is correct, else 0.0."""
    return float(finals.outcomes[0] is Outcome.CORRECT)


def majority_at_k(finals: GradedFinals) -> float:
    """Probability that the majority answer is right; 0.0 when nobody answered.

    Ties are broken uniformly. Exact: the mean over the tied classes instead of a choice. Abstentions never
    vote. A class is right if a member of it is.
    """
    counts = Counter(label for label in finals.labels if label is not None)
    if not counts:
        return 0.0
    most = max(counts.values())
    winners = {label for label, count in counts.items() if count == most}
    pairs = zip(finals.labels, finals.outcomes, strict=True)
    right = {label for label, outcome in pairs if outcome is Outcome.CORRECT}
    return len(winners & right) / len(winners)


def pass_at_k(finals: GradedFinals, k: int | None = None) -> float:
    """Unbiased chance that k final samples hold a correct one.

    k is the number of final samples if None; they are taken without replacement. 1 - C(n - c, k) / C(n, k)
    with c of n finals correct (Chen et al. 2021, Eq. 1). Raises ValueError unless 1 <= k <= n.
    """
    n = len(finals.outcomes)
    k = n if k is None else k
    if not 1 <= k <= n:
        raise ValueError(f"k must be in [1, {n}], the number of finals, got {k}")
    return 1 - comb(n - finals.num_correct, k) / comb(n, k)


def num_parsed(finals: GradedFinals) -> int:
    """How many of the answers could be read."""
    return len(finals.outcomes) - sum(map(finals.outcomes.count, (Outcome.UNPARSED, Outcome.TRUNCATED)))


PER_QUESTION: Mapping[str, Callable[[GradedFinals], float]] = {
    "mean_at_k": mean_at_k,
    "accuracy": accuracy,
    "majority_at_k": majority_at_k,
    "pass_at_k": pass_at_k,
}


def summarise(finals: Mapping[tuple[str, int], GradedFinals]) -> dict[str, Estimate]:
    """Estimates by metric of final samples keyed by (question, seed).

    `parsed_share` is the share of answers that could be read, `mean_among_parsed` that of right answers among
    them; it is absent where none could be read.
    """

    def by_key(metric: Callable[[GradedFinals], float]) -> dict[tuple[Hashable, int], float]:
        return {key: metric(graded) for key, graded in finals.items()}

    found = {name: estimate(by_key(metric)) for name, metric in PER_QUESTION.items()}
    parsed = by_key(num_parsed)
    asked = by_key(lambda graded: len(graded.outcomes))
    found["parsed_share"] = estimate_ratio(parsed, asked)
    if any(parsed.values()):
        found["mean_among_parsed"] = estimate_ratio(by_key(lambda graded: graded.num_correct), parsed)
    return found
