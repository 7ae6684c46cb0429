"""Verdicts on the theory's predictions, from the probe's estimates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from scipy import stats

EQUIVALENCE = 0.05  # a change of probability that counts as none


@dataclass(frozen=True, slots=True)
class Measured:
    """A mean over questions: interval, two-sided p, number of questions."""

    value: float
    low: float
    high: float
    p: float
    num_questions: int


def verdicts(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Each prediction: its estimands with their p after Holm, and whether it holds; null where not measured.

    `metrics` are those that `measure` returns. `tag_matters`, `mention_primes` and `tag_0_below_no_tag` hold
    where the effect has the sign that the name says and p < 0.05 after Holm over the primary contrasts.
    `tag_0_never_raises` fails where the change of a right or of a wrong attempt tagged 0 is above 0 likewise:
    each kind is judged on its own, since opposite changes would cancel in a mean, and both have to pass.
    Predictions of no difference hold where 0 is inside the interval; `tag_0_does_nothing` is an equivalence
    test on each kind.
    """
    punished = ("shift_right_tag0", "shift_wrong_tag0")
    primary = ("tag_effect_logit", "priming_logit", "tag0_below_untagged", *punished)
    measured = {name: Measured(**found) for name, found in metrics.items() if _is_measured(found)}
    adjusted = holm({name: measured[name].p for name in primary if name in measured})

    def judged(names: Sequence[str], holds: Callable[[str, Measured], bool]) -> dict[str, Any] | None:
        found = {name: holds(name, measured[name]) for name in names if name in measured}
        if len(found) < len(names) and all(found.values()):
            return None
        return {"holds": all(found.values()), "p_holm": {name: adjusted.get(name) for name in found}}

    def has_sign(sign: int) -> Callable[[str, Measured], bool]:
        return lambda name, m: sign * m.value > 0 and adjusted[name] < 0.05

    def includes_zero(_: str, m: Measured) -> bool:
        return m.low <= 0 <= m.high

    def is_equivalent(_: str, m: Measured) -> bool:
        half = (m.high - m.value) * stats.t.ppf(0.95, m.num_questions - 1)
        reach = half / stats.t.ppf(0.975, m.num_questions - 1)
        return bool(abs(m.value) + reach < EQUIVALENCE)

    slope = metrics.get("slope")
    return {
        "tag_matters": judged(("tag_effect_logit",), has_sign(1)),
        "mention_primes": judged(("priming_logit",), has_sign(1)),
        "tag_0_never_raises": judged(punished, lambda *found: not has_sign(1)(*found)),
        "tag_0_below_no_tag": judged(("tag0_below_untagged",), has_sign(-1)),
        "tag_0_does_nothing": judged(punished, is_equivalent),
        "slope_is_1": None if slope is None else {"holds": bool(slope["low"] <= 1 <= slope["high"]), **slope},
        "others_stay": judged(("others_scored",), includes_zero),
        "right_and_wrong_alike": judged(("right_minus_wrong",), includes_zero),
        "tags_add_up": judged(("three_minus_three_times_one",), includes_zero),
        "order_does_not_matter": judged(("order",), includes_zero),
    }


def _is_measured(found: Any) -> bool:
    return isinstance(found, Mapping) and found.keys() == {field.name for field in fields(Measured)}


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjusted p values."""
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p, key=lambda name: p[name])):
        largest = max(largest, min(1.0, (len(p) - rank) * p[name]))
        adjusted[name] = largest
    return adjusted
