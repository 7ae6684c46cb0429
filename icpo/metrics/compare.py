"""Comparison of two cells on the same questions and seeds."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from icpo.metrics.estimates import DIFFERENCE, Estimate, Values, estimate
from icpo.metrics.per_question import PER_QUESTION, majority_at_k, mean_at_k
from icpo.types import GradedFinals, QuestionScore


@dataclass(frozen=True, slots=True)
class Comparison:
    """What cell a gains over cell b, paired by question and seed.

    The pairs are the `num_pairs` that both have. `majority_corrected` and `majority_broken` are numbers of
    questions, averaged over seeds: those where b's majority is wrong and a's is right, and the reverse; a
    majority that is right with probability p under uniform tie-breaking counts as p. `mean_over_majority` is
    Mean@k of a minus Maj@k of b.
    """

    differences: Mapping[str, Estimate]
    mean_over_majority: Estimate
    majority_corrected: float
    majority_broken: float
    num_pairs: int
    num_questions: int


def values_of(
    scores: Sequence[QuestionScore], metric: Callable[[GradedFinals], float], scope: str = ""
) -> dict[tuple[Hashable, int], float]:
    """A metric by (question, seed).

    `scope`, a benchmark's name, keeps pooled questions apart.
    """
    return {((scope, s.question_id), s.seed): metric(s.last) for s in scores}


def paired_difference(a: Values, b: Values) -> Estimate:
    """Estimate of a minus b over the keys that both have.

    Raises ValueError if they share none.
    """
    shared = [key for key in a if key in b]
    if not shared:
        raise ValueError("the two have no (question, seed) in common, so their difference is undefined")
    return estimate({key: a[key] - b[key] for key in shared}, DIFFERENCE)


def compare(a: Sequence[QuestionScore], b: Sequence[QuestionScore]) -> Comparison:
    """Cell a against cell b; ValueError when they share no (question, seed)."""
    majority_a, majority_b = values_of(a, majority_at_k), values_of(b, majority_at_k)
    shared = [key for key in majority_a if key in majority_b]
    num_seeds = len({seed for _, seed in shared}) or 1
    return Comparison(
        differences={
            name: paired_difference(values_of(a, metric), values_of(b, metric))
            for name, metric in PER_QUESTION.items()
        },
        mean_over_majority=paired_difference(values_of(a, mean_at_k), majority_b),
        majority_corrected=sum(majority_a[key] * (1 - majority_b[key]) for key in shared) / num_seeds,
        majority_broken=sum(majority_b[key] * (1 - majority_a[key]) for key in shared) / num_seeds,
        num_pairs=len(shared),
        num_questions=len({question for question, _ in shared}),
    )


def sign_test(num_gained: int, num_lost: int) -> float:
    """Exact two-sided p-value of a sign test, ties left out.

    1.0 if there are only ties.
    """
    n = num_gained + num_lost
    tail = sum(comb(n, i) for i in range(min(num_gained, num_lost) + 1))
    return float(min(1.0, 2 * tail / 2**n))
