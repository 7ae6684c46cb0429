"""Tables as values: one section per backbone and protocol, its lines the arms and their differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from icpo.metrics import Estimate
from icpo.report.cells import Arm, ArmKey
from icpo.report.differences import Difference, PooledDifference
from icpo.report.labels import arm_labels, base_label, line_of, place

METRIC_NAMES = {"mean_at_k": "Mean", "accuracy": "Accuracy", "majority_at_k": "Maj", "pass_at_k": "pass"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: the estimates by metric and benchmark. A difference stands below its arm."""

    label: str
    is_difference: bool
    estimates: Mapping[tuple[str, str], Estimate]


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one backbone under one protocol; `benchmarks` are its columns, pools last."""

    backbone: str
    protocol: str
    k: int
    benchmarks: tuple[str, ...]
    lines: tuple[Line, ...]

    def metric_name(self, metric: str) -> str:
        """The metric as its k names it: `Mean@16`."""
        return metric_name(metric, self.k)


def metric_name(metric: str, k: int) -> str:
    """`Mean@16`, `Accuracy`, `Maj@16`, `pass@16`."""
    name = METRIC_NAMES[metric]
    return name if metric == "accuracy" else f"{name}@{k}"


def sections_of(
    arms: Sequence[Arm], differences: Sequence[Difference], pooled: Sequence[PooledDifference]
) -> tuple[Section, ...]:
    """Most finals first; bases first, then each other arm followed by what it gains over each base."""
    groups: dict[tuple[str, str, int], list[Arm]] = {}
    for arm in arms:
        groups.setdefault((arm.key.backbone, arm.key.protocol, arm.key.k), []).append(arm)
    names = sorted(groups, key=lambda name: (name[0], name[1], -name[2]))
    return tuple(_section(name, groups[name], differences, pooled) for name in names)


def _section(
    name: tuple[str, str, int],
    arms: Sequence[Arm],
    differences: Sequence[Difference],
    pooled: Sequence[PooledDifference],
) -> Section:
    by_line: dict[ArmKey, list[Arm]] = {}
    for arm in sorted(arms, key=lambda arm: (place(arm.key), arm.cell)):
        by_line.setdefault(line_of(arm.key), []).append(arm)
    labels = arm_labels(by_line)
    lines: list[Line] = []
    for key, group in by_line.items():
        lines.append(Line(labels[key], False, _arm_estimates(group)))
        lines += _difference_lines(key, differences, pooled)
    benchmarks = sorted({a.key.benchmark for a in arms}, key=_natural)
    pools = sorted({b for line in lines for _, b in line.estimates} - set(benchmarks))
    return Section(*name, (*benchmarks, *pools), tuple(lines))


def _arm_estimates(arms: Sequence[Arm]) -> dict[tuple[str, str], Estimate]:
    return {(metric, a.key.benchmark): e for a in arms for metric, e in a.estimates.items()}


def _difference_lines(
    key: ArmKey, differences: Sequence[Difference], pooled: Sequence[PooledDifference]
) -> list[Line]:
    """One line per base, with the pools as further columns."""
    found: dict[str, dict[tuple[str, str], Estimate]] = {}
    for d in differences:
        if line_of(d.arm.key) == key:
            line = found.setdefault(d.base.key.method, {})
            line |= {(m, d.arm.key.benchmark): e for m, e in d.comparison.differences.items()}
    for p in pooled:
        if line_of(p.first.arm.key) == key:
            found[p.first.base.key.method] |= {(m, p.pool): e for m, e in p.estimates.items()}
    plain = len(found) == 1 and "me_icpo" not in found
    return [
        Line("difference" if plain else f"difference to {base_label(base)}", True, line)
        for base, line in sorted(found.items())
    ]


def _natural(benchmark: str) -> tuple[bool, str]:
    """Competitions before levels, as in the paper; names in order."""
    return "_l" in benchmark, benchmark
