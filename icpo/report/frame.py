"""The scores of runs as one DataFrame.

A row for each arm, benchmark and metric, differences among them. table.csv and differences.csv are its
columns; every table, figure and page is made from it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from icpo.metrics import Estimate
from icpo.report.cells import Arm, ArmKey, load_cells
from icpo.report.differences import Difference, differences_of
from icpo.report.order import line_names, place
from icpo.report.paper import paper_value
from icpo.report.pools import pooled_arms

TABLE = (
    "backbone", "method", "reward", "selector", "protocol", "num_rounds", "num_candidates", "num_lookaheads",
    "benchmark", "metric", "k", "value", "low", "high", "std_over_seeds", "paper_value", "label", "cell",
    "arm", "title",
)  # fmt: skip
DIFFERENCES = (
    "backbone", "protocol", "benchmark", "method", "label", "base_label", "cell", "base_cell", "metric",
    "value", "low", "high", "std_over_seeds", "num_questions", "num_pairs", "majority_corrected",
    "majority_broken", "arm", "title", "base_arm", "base_title",
)  # fmt: skip
COUNTS = ("num_rounds", "num_candidates", "num_lookaheads", "k", "num_questions", "num_pairs")
NUMBERS = (
    "value", "low", "high", "std_over_seeds", "paper_value", "majority_corrected", "majority_broken",
)  # fmt: skip
SECTION = ["backbone", "protocol", "k"]
OVER_MAJORITY = "mean_over_majority"  # Mean@k minus the base's Maj@k


def run_frame(outputs: Path, run_name: str) -> pd.DataFrame:
    """The frame of a stored run; see `score_frame`."""
    arms = [arm for cell in load_cells(outputs, run_name) for arm in cell.arms]
    return score_frame(arms, differences_of(arms)[0])


def score_frame(arms: Sequence[Arm], differences: Sequence[Difference]) -> pd.DataFrame:
    """Scores of arms, of pools of benchmarks, and their differences.

    Pools have the cell ""; values are fractions. Columns: those of TABLE and DIFFERENCES; `line` and
    `base_line`, what a line of a table is called; `swept`, `setting`, `is_base`, `is_difference`, `is_pool`.
    Sections (backbone, protocol, k) and their lines are in the order of tables. Bounds and counts are missing
    where there are none.
    """

    def order_of(arm: Arm) -> tuple[object, ...]:
        return arm.key.backbone, arm.key.protocol, -arm.key.k, *place(arm.key), arm.cell

    found = sorted([*arms, *pooled_arms(arms)], key=order_of)
    names = line_names([arm.key for arm in found])
    rows = [row for arm in found for row in _arm_rows(arm, names)]
    order = {(arm.key, arm.cell): i for i, arm in enumerate(found)}
    ordered = sorted(
        differences, key=lambda d: [order.get((x.key, x.cell), len(order)) for x in (d.arm, d.base)]
    )
    rows += [row for d in ordered for row in _difference_rows(d, names)]
    columns = dict.fromkeys(
        [*TABLE, *DIFFERENCES, "swept", "setting", "line", "base_line", "is_base", "is_difference", "is_pool"]
    )
    frame = pd.DataFrame(rows, columns=list(columns))
    flags = dict.fromkeys(("is_base", "is_difference", "is_pool"), "bool")
    return frame.astype({**dict.fromkeys(COUNTS, "Int64"), **dict.fromkeys(NUMBERS, "float64"), **flags})


def sections(frame: pd.DataFrame) -> Iterator[tuple[str, str, int, pd.DataFrame]]:
    """The sections of a frame (backbone, protocol, k), in order."""
    for (backbone, protocol, k), part in frame.groupby(SECTION, sort=False):
        yield str(backbone), str(protocol), int(str(k)), part


def benchmarks_of(section: pd.DataFrame) -> list[str]:
    """The columns of a section's tables: competitions before levels, pools last."""
    is_pool = dict(zip(section["benchmark"], section["is_pool"], strict=True))
    return sorted(is_pool, key=lambda name: (is_pool[name], "_l" in name, name))


def write_csv(frame: pd.DataFrame, folder: Path) -> tuple[Path, ...]:
    """Writes table.csv and differences.csv."""
    paths = folder / "table.csv", folder / "differences.csv"
    plain = frame[(frame["metric"] != OVER_MAJORITY) & ~(frame["is_difference"] & frame["is_pool"])]
    plain[list(TABLE)].to_csv(paths[0], index=False, lineterminator="\n")
    frame.loc[frame["is_difference"], list(DIFFERENCES)].to_csv(paths[1], index=False, lineterminator="\n")
    return paths


def _arm_rows(arm: Arm, names: Mapping[ArmKey, str]) -> Iterator[dict[str, Any]]:
    common = _common(arm, names) | {"is_difference": False, "base_line": ""}
    common |= {"num_questions": arm.num_questions, "num_pairs": len(arm.scores)}
    for metric, found in arm.estimates().items():
        row = {**common, "metric": metric, **asdict(found)}
        yield row | {"paper_value": paper_value(row)}
    for metric, value in arm.tokens.items():
        yield {**common, "metric": metric, "value": value}


def _difference_rows(d: Difference, names: Mapping[ArmKey, str]) -> Iterator[dict[str, Any]]:
    c = d.comparison
    common = _common(d.arm, names) | {
        "method": d.method,
        "is_difference": True,
        "base_label": d.base.key.label,
        "base_cell": d.base.cell,
        "base_arm": d.base.key.arm,
        "base_title": d.base.key.title,
        "base_line": names[d.base.key.line],
        "num_questions": c.num_questions,
        "num_pairs": c.num_pairs,
        "majority_corrected": c.majority_corrected,
        "majority_broken": c.majority_broken,
    }
    found: dict[str, Estimate] = {**c.differences, OVER_MAJORITY: c.mean_over_majority}
    for metric, estimate in found.items():
        ours, theirs = (paper_value({**asdict(x.key), "metric": metric}) for x in (d.arm, d.base))
        paper = None if ours is None or theirs is None else round(ours - theirs, 6)
        yield {**common, "metric": metric, **asdict(estimate), "paper_value": paper}


def _common(arm: Arm, names: Mapping[ArmKey, str]) -> dict[str, Any]:
    key = arm.key
    facts = {"cell": arm.cell, "line": names[key.line], "is_base": key.is_base, "is_pool": not arm.cell}
    return asdict(key) | facts


def lines_of(section: pd.DataFrame) -> list[str]:
    """The lines of a section's tables, in order."""
    return list(dict.fromkeys(section["line"]))
