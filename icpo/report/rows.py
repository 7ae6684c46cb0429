"""table.csv and differences.csv: long tables that scripts read; all values are fractions."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from icpo.metrics import Estimate
from icpo.report.cells import Arm
from icpo.report.differences import Difference, PooledDifference
from icpo.report.paper import paper_difference, paper_number


@dataclass(frozen=True, slots=True)
class Row:
    """A line of table.csv: the fields are its columns.

    `label` and `cell` tell apart rows that differ in nothing before them; a difference has its arm's.
    """

    backbone: str
    method: str
    reward: str | None
    selector: str | None
    protocol: str
    num_rounds: int | None
    num_candidates: int | None
    num_lookaheads: int | None
    benchmark: str
    metric: str
    k: int
    value: float
    low: float
    high: float
    std_over_seeds: float | None
    paper_value: float | None
    label: str
    cell: str


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A line of differences.csv: which arms were compared, on how much, and what majority voting says.

    A line of pooled benchmarks has no cells and no counts; its labels tell it apart.
    """

    backbone: str
    protocol: str
    benchmark: str
    method: str
    label: str
    base_label: str
    cell: str
    base_cell: str
    metric: str
    value: float
    low: float
    high: float
    std_over_seeds: float | None
    num_questions: int | None
    num_pairs: int | None
    majority_corrected: float | None
    majority_broken: float | None


def table_rows(arms: Sequence[Arm], differences: Sequence[Difference]) -> list[Row]:
    """Every metric of every arm, then of every difference."""
    of_arms = [
        _row(arm, arm.key.method, metric, found, None if paper is None else paper.value)
        for arm in arms
        for metric, found in arm.estimates.items()
        for paper in (paper_number(arm.key, metric),)
    ]
    of_differences = [
        _row(d.arm, d.method, metric, found, paper_difference(d.arm.key, d.base.key, metric))
        for d in differences
        for metric, found in d.comparison.differences.items()
    ]
    return of_arms + of_differences


def difference_rows(
    differences: Sequence[Difference], pooled: Sequence[PooledDifference]
) -> list[DifferenceRow]:
    """Every difference with what it rests on; `mean_over_majority` is Mean@k minus the base's Maj@k."""
    rows = []
    for d in differences:
        c = d.comparison
        counts = (c.num_questions, c.num_pairs, c.majority_corrected, c.majority_broken)
        found = {**c.differences, "mean_over_majority": c.mean_over_majority}
        rows += [_difference_row(d, d.arm.key.benchmark, m, e, counts) for m, e in found.items()]
    for p in pooled:
        rows += [_difference_row(p.first, p.pool, m, e, (None,) * 4) for m, e in p.estimates.items()]
    return rows


def write_csv(
    path: Path, row_type: type[Row] | type[DifferenceRow], rows: Iterable[Row | DifferenceRow]
) -> None:
    """Writes rows under their field names; None is empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(row_type))
        writer.writerows(astuple(row) for row in rows)


def _row(arm: Arm, method: str, metric: str, found: Estimate, paper_value: float | None) -> Row:
    key = arm.key
    return Row(
        backbone=key.backbone,
        method=method,
        reward=key.reward,
        selector=key.selector,
        protocol=key.protocol,
        num_rounds=key.num_rounds,
        num_candidates=key.num_candidates,
        num_lookaheads=key.num_lookaheads,
        benchmark=key.benchmark,
        metric=metric,
        k=key.k,
        value=found.value,
        low=found.low,
        high=found.high,
        std_over_seeds=found.std_over_seeds,
        paper_value=paper_value,
        label=key.label,
        cell=arm.cell,
    )


def _difference_row(
    d: Difference,
    benchmark: str,
    metric: str,
    found: Estimate,
    counts: tuple[int | None, int | None, float | None, float | None],
) -> DifferenceRow:
    is_pooled = counts[0] is None
    return DifferenceRow(
        d.arm.key.backbone,
        d.arm.key.protocol,
        benchmark,
        d.method,
        d.arm.key.label,
        d.base.key.label,
        "" if is_pooled else d.arm.cell,
        "" if is_pooled else d.base.cell,
        metric,
        found.value,
        found.low,
        found.high,
        found.std_over_seeds,
        *counts,
    )
