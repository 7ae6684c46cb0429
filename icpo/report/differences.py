"""What each arm gains over the base on the same questions, one benchmark at a time and pooled."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from icpo.metrics import PER_QUESTION, Comparison, Estimate, compare, paired_difference
from icpo.metrics.compare import values_of
from icpo.report.cells import Arm
from icpo.report.labels import is_full

POOLS = (
    ("arith_l3", "arith_l4", "arith_l5"),
    ("math_l1", "math_l2", "math_l3", "math_l4", "math_l5"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """An arm minus a base on one benchmark, over the (question, seed) pairs that both have."""

    arm: Arm
    base: Arm
    comparison: Comparison

    @property
    def method(self) -> str:
        """How table.csv names it: `me_icpo-direct`."""
        return f"{self.arm.key.method}-{self.base.key.method}"


@dataclass(frozen=True, slots=True)
class PooledDifference:
    """Differences of one arm over several benchmarks taken together, every question weighing the same."""

    benchmarks: tuple[str, ...]
    first: Difference
    estimates: dict[str, Estimate]

    @property
    def pool(self) -> str:
        """Its column: `arith_l3-l5`, or `arith_l3+l5` where the level between is missing."""
        stem, levels = (
            self.benchmarks[0].rpartition("_l")[0],
            [b.rpartition("_l")[2] for b in self.benchmarks],
        )
        is_span = int(levels[-1]) - int(levels[0]) == len(levels) - 1
        return f"{stem}_l{levels[0]}-l{levels[-1]}" if is_span else f"{stem}_l" + "+l".join(levels)


def differences_of(arms: Sequence[Arm]) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """Each arm against each base of its backbone, benchmark, protocol and k; and what could not be paired.

    Without a base (an ablation) the one arm of full ME-ICPO takes its place.
    """
    found, notes = [], []
    for arm in arms:
        for base in _bases_of(arm, arms):
            try:
                found.append(Difference(arm, base, compare(arm.scores, base.scores)))
            except ValueError as error:
                notes.append(f"{arm.cell} and {base.cell} are not compared: {error}")
    return tuple(found), tuple(notes)


def pooled_differences(differences: Sequence[Difference]) -> tuple[PooledDifference, ...]:
    """For each arm, the pools of which at least two benchmarks were compared."""
    groups: dict[tuple[object, ...], list[Difference]] = {}
    for difference in differences:
        for pool in POOLS:
            if difference.arm.key.benchmark in pool:
                line = pool, replace(difference.arm.key, benchmark=""), difference.base.key.method
                groups.setdefault(line, []).append(difference)
    return tuple(_pool(group) for group in groups.values() if len(group) > 1)


def _pool(group: Sequence[Difference]) -> PooledDifference:
    estimates = {}
    for name, metric in PER_QUESTION.items():
        arms: dict[tuple[Hashable, int], float] = {}
        bases: dict[tuple[Hashable, int], float] = {}
        for difference in group:
            benchmark = difference.arm.key.benchmark
            arms |= values_of(difference.arm.scores, metric, benchmark)
            bases |= values_of(difference.base.scores, metric, benchmark)
        estimates[name] = paired_difference(arms, bases)
    return PooledDifference(tuple(sorted(d.arm.key.benchmark for d in group)), group[0], estimates)


def _bases_of(arm: Arm, arms: Sequence[Arm]) -> list[Arm]:
    beside = [other for other in arms if _place(other) == _place(arm)]
    bases = [other for other in beside if other.key.is_base] or [b for b in beside if is_full(b.key)]
    is_clear = all(base.key.is_base for base in bases) or len(bases) == 1
    return bases if is_clear and not any(base is arm for base in bases) else []


def _place(arm: Arm) -> tuple[str, str, str, int]:
    return arm.key.backbone, arm.key.benchmark, arm.key.protocol, arm.key.k
