"""The paper's printed numbers, and how ours compare."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from icpo.metrics import Estimate
from icpo.report.cells import Arm, ArmKey


@dataclass(frozen=True, slots=True)
class PaperNumber:
    """One number as a fraction; `std` is what is printed behind ±; `source` is its label in the paper."""

    backbone: str
    method: str
    reward: str | None
    selector: str | None
    benchmark: str
    metric: str
    value: float
    std: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Ours beside the paper's: `within` when theirs lies in our 95% interval, else `above` or `below`.

    `not run` when this run has no such number.
    """

    paper: PaperNumber
    ours: Estimate | None
    verdict: str


@cache
def paper_numbers() -> tuple[PaperNumber, ...]:
    """All numbers that the package knows."""
    return tuple(PaperNumber(**row) for row in _data()["rows"])


def paper_number(key: ArmKey, metric: str) -> PaperNumber | None:
    """The paper's number for an arm: same backbone, benchmark and method, n = 5 and k = m = 16; else None."""
    sizes = _data()["me_icpo"] if key.method == "me_icpo" else {}
    if key.k != _data()["k"] or any(getattr(key, name) != size for name, size in sizes.items()):
        return None
    return _by_line().get((*_line(key), key.benchmark, metric))


def paper_difference(arm: ArmKey, base: ArmKey, metric: str) -> float | None:
    """The paper's difference, where it has both numbers."""
    ours, theirs = paper_number(arm, metric), paper_number(base, metric)
    return None if ours is None or theirs is None else round(ours.value - theirs.value, 6)


def verdict_of(paper: float, ours: Estimate) -> str:
    """`within`, `above` (ours is higher) or `below`."""
    if ours.low > paper:
        return "above"
    return "below" if ours.high < paper else "within"


def verdicts(arms: Sequence[Arm]) -> tuple[Verdict, ...]:
    """A verdict on each number that the paper prints of the lines (backbone, method, rules) in `arms`."""
    ours = {
        number: estimate
        for arm in arms
        for metric, estimate in arm.estimates.items()
        if (number := paper_number(arm.key, metric)) is not None
    }
    lines = {_line(number) for number in ours}
    return tuple(_verdict(number, ours.get(number)) for number in paper_numbers() if _line(number) in lines)


def _verdict(number: PaperNumber, ours: Estimate | None) -> Verdict:
    return Verdict(number, ours, "not run" if ours is None else verdict_of(number.value, ours))


def _line(of: ArmKey | PaperNumber) -> tuple[str, str, str | None, str | None]:
    """Backbone, method and rules; only ME-ICPO's rules tell lines apart."""
    is_me_icpo = of.method == "me_icpo"
    return of.backbone, of.method, of.reward if is_me_icpo else None, of.selector if is_me_icpo else None


@cache
def _by_line() -> dict[tuple[str | None, ...], PaperNumber]:
    return {(*_line(n), n.benchmark, n.metric): n for n in paper_numbers()}


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(files("icpo.report").joinpath("paper_numbers.json").read_text("utf-8"))
    return data
