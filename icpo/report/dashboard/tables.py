"""The tables of a run as the pages read them: sections, notes, the paper's numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from icpo.metrics import PER_QUESTION
from icpo.report.cells import ArmKey, Cell
from icpo.report.dashboard.cell_data import numbers_of
from icpo.report.differences import Difference, PooledDifference, differences_of, pooled_differences
from icpo.report.labels import arm_labels, line_of
from icpo.report.paper import verdicts
from icpo.report.sections import Section, sections_of


def run_tables(run_name: str, cells: Sequence[Cell]) -> dict[str, Any]:
    """All that the index shows of a run above its cells."""
    arms = [arm for cell in cells for arm in cell.arms]
    differences, notes = differences_of(arms)
    pooled = pooled_differences(differences)
    sections = sections_of(arms, differences, pooled)
    labels = arm_labels(arm.key for arm in arms)
    return {
        "name": run_name,
        "notes": notes,
        "sections": [_section(section) for section in sections],
        "differences": [_difference(d, labels) for d in differences] + [_pooled(p, labels) for p in pooled],
        "paper": [
            {
                "backbone": v.paper.backbone,
                "benchmark": v.paper.benchmark,
                "method": v.paper.method,
                "metric": v.paper.metric,
                "paper": v.paper.value,
                "ours": None if v.ours is None else [v.ours.value, v.ours.low, v.ours.high],
                "verdict": v.verdict,
            }
            for v in verdicts(arms)
        ],
    }


def _difference(difference: Difference, labels: Mapping[ArmKey, str]) -> dict[str, Any]:
    """One comparison with the cells it is of, so that a page can link to it."""
    c, metrics = difference.comparison, difference.arm.metrics
    return {
        "benchmark": difference.arm.key.benchmark,
        "arm_label": labels[line_of(difference.arm.key)],
        "base_label": labels[line_of(difference.base.key)],
        "a": difference.arm.cell,
        "b": difference.base.cell,
        "metrics": numbers_of(c.differences),
        "over_majority": numbers_of({"": c.mean_over_majority})[""],
        "corrected": c.majority_corrected,
        "broken": c.majority_broken,
        "num_questions": c.num_questions,
        "copy_rate": metrics.get("copy_rate"),
        "tag_accuracy": metrics.get("tag_accuracy"),
    }


def _pooled(pooled: PooledDifference, labels: Mapping[ArmKey, str]) -> dict[str, Any]:
    """The same for a pool, which is no single pair of cells."""
    return {
        "benchmark": pooled.pool,
        "arm_label": labels[line_of(pooled.first.arm.key)],
        "base_label": labels[line_of(pooled.first.base.key)],
        "metrics": numbers_of(pooled.estimates),
    }


def _section(section: Section) -> dict[str, Any]:
    lines = []
    for line in section.lines:
        by_benchmark = {
            b: {m: e for (m, name), e in line.estimates.items() if name == b} for b in section.benchmarks
        }
        found = {b: numbers_of(estimates) for b, estimates in by_benchmark.items() if estimates}
        lines.append({"label": line.label, "is_difference": line.is_difference, "estimates": found})
    names = {metric: section.metric_name(metric) for metric in PER_QUESTION}
    return {
        "backbone": section.backbone,
        "protocol": section.protocol,
        "benchmarks": section.benchmarks,
        "metric_names": names,
        "lines": lines,
    }
