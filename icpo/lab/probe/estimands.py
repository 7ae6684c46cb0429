"""Estimates of the probe, with intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isfinite, sqrt
from typing import Any

import numpy as np
from scipy import stats

from icpo.lab.probe.conditions import FREQUENT, MARK, RIGHT
from icpo.lab.probe.shifts import Shift
from icpo.lab.probe.theory import fit_models
from icpo.lab.probe.verdicts import Measured, verdicts

KINDS = (RIGHT, FREQUENT)
STRATA = ((0.0, 0.1), (0.1, 0.4), (0.4, 1.0001))
POWER = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
Key = tuple[str, int]


def mean_of(values: Iterable[tuple[str, float]]) -> Measured | None:
    """The mean over questions; None where it has no interval."""
    grouped: dict[str, list[float]] = {}
    for question, value in values:
        if isfinite(value):
            grouped.setdefault(question, []).append(value)
    means = np.array([np.mean(group) for group in grouped.values()])
    if len(means) < 2:
        return None
    error = float(means.std(ddof=1)) / sqrt(len(means))
    if error == 0:  # all questions alike: an interval of width 0 would claim too much
        return None
    reach = stats.t.ppf(0.975, len(means) - 1) * error
    value = float(means.mean())
    p = float(2 * stats.t.sf(abs(value) / error, len(means) - 1))
    return Measured(value, value - float(reach), value + float(reach), p, len(means))


def measure(shifts: Sequence[Shift]) -> dict[str, Any]:
    """The probe's part of metrics.json; null where not measured."""
    table = {(s.condition, s.question_id, s.seed): s for s in shifts}
    measured: dict[str, Measured | None] = {}
    for kind, short in ((RIGHT, "right"), (FREQUENT, "wrong")):
        for tag, ending in (("1", "tag1"), ("0", "tag0"), ("none", "untagged"), (MARK, "mark")):
            measured[f"shift_{short}_{ending}"] = _change(shifts, f"{kind}/working/{tag}")
        for tag, ending in (("1", "tag1"), ("0", "tag0"), ("none", "untagged")):
            measured[f"shift_{short}_{ending}_bare"] = _change(shifts, f"{kind}/bare/{tag}")
        for tag in ("1", "0", "none"):
            measured[f"right_shift_{short}_{tag}"] = _right_change(shifts, f"{kind}/working/{tag}")
    for tag in ("1", "0"):
        measured[f"shift_rare_tag{tag}"] = _change(shifts, f"rare_wrong/working/{tag}")
        measured[f"shift_unseen_tag{tag}"] = _change(shifts, f"unseen/bare/{tag}")
        measured[f"shift_foreign_tag{tag}"] = _change(shifts, f"foreign/working/{tag}")
        measured[f"right_shift_foreign_{tag}"] = _right_change(shifts, f"foreign/working/{tag}")
    measured |= {
        "tag_effect_logit": _contrast(table, _logit, ("1", "0")),
        "tag_effect_logit_right": _contrast(table, _logit, ("1", "0"), (RIGHT,)),
        "tag_effect_logit_wrong": _contrast(table, _logit, ("1", "0"), (FREQUENT,)),
        "tag_effect_scored": _contrast(table, lambda s: s.scored, ("1", "0")),
        "priming_logit": mean_of(_from_base(shifts, "none", _logit)),
        "priming_scored": mean_of(_from_base(shifts, "none", lambda s: s.scored)),
        "tag1_logit": mean_of(_from_base(shifts, "1", _logit)),
        "tag0_logit": mean_of(_from_base(shifts, "0", _logit)),
        "tag0_below_untagged": _contrast(table, _logit, ("0", "none")),
        "others_scored": mean_of(
            (s.question_id, s.others)
            for kind in KINDS
            for s in shifts
            if s.condition == f"{kind}/working/1" and s.others is not None
        ),
        "right_minus_wrong": mean_of(_right_minus_wrong(table, _sampled)),
        "right_minus_wrong_scored": mean_of(_right_minus_wrong(table, _scored)),
        "three_minus_three_times_one": mean_of(_additivity(table, _sampled)),
        "three_minus_three_times_one_scored": mean_of(_additivity(table, _scored)),
        "order": mean_of(_order(table)),
    }
    fitted = {f"{kind}/working/{tag}" for kind in KINDS for tag in ("1", "0", "none")}
    fits = fit_models([s for s in shifts if s.condition in fitted])
    best = fits.get("priming_and_mirror_descent")
    metrics = {
        **{name: None if found is None else asdict(found) for name, found in measured.items()},
        "slope": _slope(shifts, _sampled),
        "slope_scored": _slope(shifts, _scored),
        "strata": _strata(table),
        "parsed_share": _parsed(shifts),
        "models": {name: asdict(fit) for name, fit in fits.items()},
        "step_size": best.parameters[0] if best else None,
        "theory_r2": fits["mirror_descent"].r2 if fits else None,
        "theory_r2_with_priming": best.r2 if best else None,
    }
    return {**metrics, "verdicts": verdicts(metrics)}


def _logit(shift: Shift) -> float | None:
    return shift.count.logit if shift.count.parsed and shift.base.parsed else None


def _change(shifts: Sequence[Shift], condition: str) -> Measured | None:
    return mean_of((s.question_id, s.change) for s in shifts if s.condition == condition)


def _right_change(shifts: Sequence[Shift], condition: str) -> Measured | None:
    """Change of the probability of the right answer, among answers."""
    return mean_of(
        (s.question_id, s.count.right / s.count.parsed - s.base.right / s.base.parsed)
        for s in shifts
        if s.condition == condition and s.count.parsed and s.base.parsed
    )


Table = Mapping[tuple[str, str, int], Shift]


def _pairs(table: Table, one: str, other: str) -> Iterable[tuple[Shift, Shift]]:
    for (condition, question, seed), shift in table.items():
        if condition == one and (paired := table.get((other, question, seed))) is not None:
            yield shift, paired


def _contrast(
    table: Table,
    value: Callable[[Shift], float | None],
    tags: tuple[str, str],
    kinds: Sequence[str] = KINDS,
) -> Measured | None:
    """The first tag minus the second, the same attempt under both."""
    return mean_of(
        (a.question_id, x - y)
        for kind in kinds
        for a, b in _pairs(table, *(f"{kind}/working/{tag}" for tag in tags))
        if (x := value(a)) is not None and (y := value(b)) is not None
    )


def _from_base(
    shifts: Sequence[Shift], tag: str, value: Callable[[Shift], float | None]
) -> Iterable[tuple[str, float]]:
    """A tag minus the base, in log-odds."""
    for s in shifts:
        if s.condition in {f"{kind}/working/{tag}" for kind in KINDS} and (x := value(s)) is not None:
            before = s.base.logit if value is _logit else s.base_scored
            if before is not None:
                yield s.question_id, x - before


def _scored(shift: Shift) -> tuple[float, float] | None:
    """Exact log-odds in the base and under the condition."""
    if shift.base_scored is None or shift.scored is None:
        return None
    return shift.base_scored, shift.scored


def _sampled(shift: Shift) -> tuple[float, float] | None:
    """Log-odds by frequency in the base and under the condition."""
    return (shift.base.logit, shift.count.logit) if shift.base.parsed and shift.count.parsed else None


Odds = Callable[[Shift], tuple[float, float] | None]


def _right_minus_wrong(table: Table, odds: Odds) -> Iterable[tuple[str, float]]:
    """How much more a right attempt tagged 1 gains than a wrong one of the same question, in log-odds."""
    for a, b in _pairs(table, f"{RIGHT}/working/1", f"{FREQUENT}/working/1"):
        if (right := odds(a)) is not None and (wrong := odds(b)) is not None:
            yield a.question_id, (right[1] - right[0]) - (wrong[1] - wrong[0])


def _additivity(table: Table, odds: Odds) -> Iterable[tuple[str, float]]:
    """Shift by three equal attempts minus three times that by one, in log-odds."""
    for kind in KINDS:
        for a, b in _pairs(table, f"{kind}+{kind}+{kind}/working/1", f"{kind}/working/1"):
            if (three := odds(a)) is not None and (one := odds(b)) is not None:
                yield a.question_id, (three[1] - three[0]) - 3 * (one[1] - one[0])


def _order(table: Table) -> Iterable[tuple[str, float]]:
    """Share of the right answer where it comes last minus where it comes first, beside a wrong one."""
    for a, b in _pairs(table, f"{FREQUENT}+{RIGHT}/working/1", f"{RIGHT}+{FREQUENT}/working/1"):
        if a.count.parsed and b.count.parsed:
            yield a.question_id, a.count.right / a.count.parsed - b.count.right / b.count.parsed


def _slope(shifts: Sequence[Shift], odds: Odds) -> dict[str, float] | None:
    """Slope of the log-odds under tag 1 against the base's; the interval is clustered by question.

    Sampled log-odds of the base are noisy, which pulls the slope towards 0; exact ones are not.
    """
    conditions = {f"{kind}/working/1" for kind in KINDS}
    rows = [
        (s.question_id, *both) for s in shifts if s.condition in conditions and (both := odds(s)) is not None
    ]
    questions = sorted({question for question, *_ in rows})
    if len(questions) < 5:
        return None
    x, y = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    centred = x - x.mean()
    spread = float(centred @ centred)
    if not spread:
        return None
    slope = float(centred @ y) / spread
    residual = (y - y.mean() - slope * centred) * centred
    number = np.array([questions.index(row[0]) for row in rows])
    by_question = np.bincount(number, weights=residual)
    factor = len(questions) / (len(questions) - 1)
    reach = float(stats.t.ppf(0.975, len(questions) - 1)) * sqrt(factor * by_question @ by_question) / spread
    return {"value": slope, "low": slope - reach, "high": slope + reach}


def _strata(table: Table) -> list[dict[str, Any]]:
    """The tag's effect by base probability of the attempt's answer."""
    strata = []
    for low, high in STRATA:
        inside = {key: s for key, s in table.items() if low <= s.base.share < high}
        found = _contrast(inside, _logit, ("1", "0"))
        strata.append({"from": low, "to": min(high, 1.0), **({} if found is None else asdict(found))})
    return strata


def _parsed(shifts: Sequence[Shift]) -> dict[str, float]:
    """The share of samples with an answer, by condition."""
    counts: dict[str, list[int]] = {}
    bases: dict[Key, Shift] = {}
    for s in shifts:
        counts.setdefault(s.condition, [0, 0])
        counts[s.condition][0] += s.count.parsed
        counts[s.condition][1] += s.count.total
        bases[s.question_id, s.seed] = s
    shares = {name: parsed / total for name, (parsed, total) in counts.items() if total}
    total = sum(s.base.total for s in bases.values())
    return {"base": sum(s.base.parsed for s in bases.values()) / total, **shares} if total else shares
