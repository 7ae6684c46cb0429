"""The dry run: what each cell needs at most, what all need, and what a run would lack."""

import logging
from typing import Any

from icpo.evaluation.budget import Need, Rates, describe, describe_total

logger = logging.getLogger("icpo")
_plans: list[tuple[Need, Rates]] = []
_warnings: set[str] = set()  # each once, though many cells may meet it


def tell_plan(cell: str, job: Any) -> None:
    """Tells what a cell needs at most; nothing is drawn. Raises ConfigError where that cannot be told."""
    from icpo.evaluation.planning import missing_weights, plan_of

    _plans.append(plan_of(job))
    logger.info("%s", describe(cell, *_plans[-1]))
    if (missing := missing_weights(job)) and missing not in _warnings:
        _warnings.add(missing)
        logger.warning("%s", missing)


def tell_total() -> None:
    """Tells what all cells need that were told of, where there are several."""
    if len(_plans) > 1:
        logger.info("%s", describe_total(_plans))
