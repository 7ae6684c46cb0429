"""The estimates of a set of graded final samples: what metrics.json and every table show."""

from collections.abc import Callable, Hashable, Mapping

from icpo.metrics.estimates import Estimate, estimate, estimate_ratio
from icpo.metrics.per_question import PER_QUESTION, num_parsed
from icpo.types import GradedFinals


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
