"""What each arm gains over the base, paired by question."""

from collections.abc import Sequence
from dataclasses import dataclass

from icpo.metrics import Comparison, compare
from icpo.report.alike import differing
from icpo.report.cells import FULL, Arm, ArmKey
from icpo.report.pools import POOLS, pool_notes, pool_of


@dataclass(frozen=True, slots=True)
class Difference:
    """An arm minus a base, over the pairs that both have."""

    arm: Arm
    base: Arm
    comparison: Comparison

    @property
    def method(self) -> str:
        """How table.csv names it: `me_icpo-direct`."""
        return f"{self.arm.key.method}-{self.base.key.method}"


def differences_of(arms: Sequence[Arm]) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """Each arm against each base, and what could not be paired or told apart.

    Within one backbone, benchmark, protocol and k, and one value of what is swept where that has a base.
    Without a base (an ablation) the full algorithm takes its place. Pools of benchmarks follow.
    """
    cells: dict[ArmKey, list[str]] = {}
    for arm in arms:
        cells.setdefault(arm.key, []).append(arm.cell)
    notes = [
        f"{' and '.join(own)} are one line of the tables, which show the last, and no difference has them: "
        "pass title=NAME for one"
        for own in cells.values()
        if len(own) > 1
    ]
    notes += pool_notes(arms)
    arms, found = [arm for arm in arms if len(cells[arm.key]) == 1], []
    beside: dict[tuple[object, ...], list[Arm]] = {}
    for arm in arms:
        beside.setdefault(_place(arm), []).append(arm)
    bases = {key: _bases_among(beside[key[0]], *key[1:]) for key in map(_group, arms)}
    for arm in arms:
        own = bases[_group(arm)]
        for base in () if any(arm is one for one in own) else own:
            try:
                found.append(Difference(arm, base, compare_arms(arm, base)))
            except ValueError as error:
                notes.append(f"{arm.cell} and {base.cell} are not compared: {error}")
                continue
            if keys := differing(arm, base):
                notes.append(f"{arm.cell} and {base.cell} differ in {', '.join(keys)}")
    return (*found, *_pooled_differences(found)), tuple(dict.fromkeys(notes))


def compare_arms(arm: Arm, base: Arm, *, across_models: bool = False) -> Comparison:
    """An arm against a base.

    Raises ValueError where they share no question and seed, or where questions or golds of their benchmarks
    differ, or weights of their models, unless it is `across_models`.
    """
    if len({one.metrics.get("benchmark_digest") for one in (arm, base)} - {None}) > 1:
        raise ValueError(f"their {arm.key.benchmark} is not the same (benchmark_digest in metrics.json)")
    if not across_models and len({one.weights for one in (arm, base)} - {None}) > 1:
        raise ValueError("the weights of their models are not the same (`weights` in manifest.json)")
    return compare(arm.scores, base.scores)


def _pooled_differences(differences: Sequence[Difference]) -> list[Difference]:
    groups: dict[tuple[object, ...], dict[str, Difference]] = {}
    for difference in differences:
        for pool in POOLS:
            if (benchmark := difference.arm.key.benchmark) in pool:
                line = pool, difference.arm.key.line, difference.base.key.line
                groups.setdefault(line, {})[benchmark] = difference
    pairs = (
        (pool_of([d.arm for d in group.values()]), pool_of([d.base for d in group.values()]))
        for group in groups.values()
        if len(group) > 1
    )
    return [
        Difference(arm, base, compare(arm.scores, base.scores))
        for arm, base in pairs
        if {score.key for score in arm.scores} & {score.key for score in base.scores}
    ]


def _bases_among(arms: Sequence[Arm], setting: str, swept: str) -> list[Arm]:
    """The bases of a backbone, benchmark, protocol and k; without any, the one full algorithm.

    Those with these values of what is swept, if there are such.
    """
    found = [arm for arm in arms if arm.key.is_base] or [arm for arm in arms if arm.key.is_full]
    found = [arm for arm in found if arm.key.setting == setting] or found
    found = [arm for arm in found if arm.key.swept == swept] or found
    if any(arm.key.is_base for arm in found):
        return found
    named = [arm for arm in found if arm.key.arm == FULL] or found
    return named if len(named) == 1 else []


def _group(arm: Arm) -> tuple[tuple[str, str, str, int], str, str]:
    return _place(arm), arm.key.setting, arm.key.swept


def _place(arm: Arm) -> tuple[str, str, str, int]:
    return arm.key.backbone, arm.key.benchmark, arm.key.protocol, arm.key.k
