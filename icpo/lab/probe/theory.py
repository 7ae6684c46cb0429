"""Models of what a tag does to an answer's odds.

They are fitted on half of the questions. logit P = logit P0 + b + s, with b the priming by the mere mention
and s the tag's step: `step_one` for tag 1, -`step_zero` for tag 0, 0 without a tag. Mirror descent has b = 0;
no effect has b = s = 0; copying instead gives P = c + (1 - c) P0, whatever the tag.

Shapes: N shifts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from icpo.lab.probe.shifts import Shift

Array = NDArray[np.float64]

MODELS = {  # number of parameters
    "no_effect": 0,
    "copying": 1,
    "mirror_descent": 2,
    "priming_and_mirror_descent": 3,
}


@dataclass(frozen=True, slots=True)
class Fit:
    """A model fitted on one half and judged on the other.

    `log_likelihood` is per held-out sample, in nats; `r2` the share of the held-out variance of shifts that
    the model explains, below 0 where their mean does better.
    """

    parameters: tuple[float, ...]
    log_likelihood: float
    r2: float


def fit_models(shifts: Sequence[Shift]) -> dict[str, Fit]:
    """Each model, fitted on every other question; needs four."""
    questions = sorted({shift.question_id for shift in shifts})
    if len(questions) < 4:
        return {}
    kept = [shift for shift in shifts if shift.count.parsed and shift.base.parsed]
    train = [shift for shift in kept if questions.index(shift.question_id) % 2 == 0]
    held_out = [shift for shift in kept if questions.index(shift.question_id) % 2 == 1]
    return {name: _fit(name, size, train, held_out) for name, size in MODELS.items()} if held_out else {}


def predict(model: str, parameters: Sequence[float] | Array, logit_N: Array, tag_N: Array) -> Array:
    """Probability of the attempt's answer; `tag_N` is 1, -1 or 0."""
    if model == "copying":
        copied = expit(parameters[0])
        return np.asarray(copied + (1 - copied) * expit(logit_N))
    one, zero, priming = np.pad(np.asarray(parameters), (0, 3 - len(parameters)))
    return np.asarray(expit(logit_N + priming + one * (tag_N > 0) - zero * (tag_N < 0)))


def _fit(model: str, size: int, train: Sequence[Shift], held_out: Sequence[Shift]) -> Fit:
    logit, tag, hits, parsed = _columns(train)

    def loss(parameters: Array) -> float:
        return -_log_likelihood(predict(model, parameters, logit, tag), hits, parsed)

    start = np.full(size, -2.0 if model == "copying" else 0.0)
    found = minimize(loss, start, method="Nelder-Mead").x if size else start
    parameters = tuple(map(float, found))
    logit, tag, hits, parsed = _columns(held_out)
    predicted = predict(model, parameters, logit, tag)
    likelihood = _log_likelihood(predicted, hits, parsed) / parsed.sum()
    before = expit(logit)
    measured = hits / parsed - before
    residual = ((measured - (predicted - before)) ** 2).sum()
    spread = ((measured - measured.mean()) ** 2).sum()
    return Fit(parameters, float(likelihood), float(1 - residual / spread) if spread else 0.0)


def _columns(shifts: Sequence[Shift]) -> tuple[Array, Array, Array, Array]:
    """Base log-odds, tag, hits and answers of each shift, (N,)."""
    tags = {"1": 1.0, "0": -1.0}
    rows = [
        (s.base.logit, tags.get(s.condition.rpartition("/")[2], 0.0), s.count.hits, s.count.parsed)
        for s in shifts
    ]
    logit, tag, hits, parsed = np.array(rows, dtype=np.float64).T
    return logit, tag, hits, parsed


def _log_likelihood(p_N: Array, hits_N: Array, parsed_N: Array) -> float:
    p = np.clip(p_N, 1e-6, 1 - 1e-6)
    return float((hits_N * np.log(p) + (parsed_N - hits_N) * np.log1p(-p)).sum())
