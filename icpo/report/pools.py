"""Several benchmarks as one: the pools of a run's arms."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from icpo.report.alike import differing
from icpo.report.cells import Arm

POOLS = (
    ("arith_l3", "arith_l4", "arith_l5"),
    ("math_l1", "math_l2", "math_l3", "math_l4", "math_l5"),
)


def pooled_arms(arms: Iterable[Arm]) -> tuple[Arm, ...]:
    """Arms pooled over at least two benchmarks of a pool, where these share seeds; the last of one line."""
    return tuple(pool for pool in map(pool_of, _groups(arms)) if pool.scores)


def pool_notes(arms: Iterable[Arm]) -> list[str]:
    """What pools leave out, and levels of a pool that have other settings."""
    notes = []
    for levels in _groups(arms):
        pool, seeds = pool_of(levels), [(arm, sorted(seeds_of(arm))) for arm in levels]
        name = f"{levels[0].key.title} on {pool.key.benchmark}"
        used = sorted(seeds_of(pool))
        if not _is_one_model(levels):
            notes.append(f"{name} is not pooled: the weights of its levels are not the same")
        elif any(own != used for _, own in seeds):
            had = "; ".join(f"{arm.key.benchmark} has {_listed(own)}" for arm, own in seeds)
            does = f"is pooled over seeds {_listed(used)} alone" if used else "is not pooled"
            notes.append(f"{name} {does}, since its levels have different seeds ({had})")
        if pool.scores:
            keys = dict.fromkeys(key for level in levels[1:] for key in differing(levels[0], level))
            notes += [f"the levels of {name} differ in {', '.join(keys)}"] if keys else []
    return notes


def seeds_of(arm: Arm) -> set[int]:
    """The seeds of an arm's scores."""
    return {score.seed for score in arm.scores}


def pool_of(arms: Sequence[Arm]) -> Arm:
    """Several benchmarks as one under the seeds that all have, so that every question weighs the same.

    Without scores where they share no seed, or their models differ.
    """
    first = arms[0]
    seeds = set.intersection(*map(seeds_of, arms)) if _is_one_model(arms) else set()
    kept = [(arm, [score for score in arm.scores if score.seed in seeds]) for arm in arms]
    scores = tuple(
        replace(score, question_id=f"{arm.key.benchmark}/{score.question_id}")
        for arm, own in kept
        for score in own
    )
    tokens = {
        name: sum(arm.tokens[name] * len(own) for arm, own in kept) / len(scores)
        for name in first.tokens
        if scores and all(name in arm.tokens for arm in arms)
    }
    return Arm(replace(first.key, benchmark=_pool_name(arms)), "", scores, tokens, {})


def _groups(arms: Iterable[Arm]) -> list[list[Arm]]:
    """At least two levels of a pool each, of one line."""
    groups: dict[tuple[object, ...], dict[str, Arm]] = {}
    for arm in arms:
        for pool in POOLS:
            if arm.key.benchmark in pool:
                groups.setdefault((pool, arm.key.line), {})[arm.key.benchmark] = arm
    return [[*group.values()] for group in groups.values() if len(group) > 1]


def _is_one_model(arms: Iterable[Arm]) -> bool:
    return len({arm.weights for arm in arms} - {None}) <= 1


def _listed(seeds: Iterable[int]) -> str:
    return ", ".join(map(str, seeds))


def _pool_name(arms: Sequence[Arm]) -> str:
    """`arith_l3-l5`, or `arith_l3+l5` where the level between is missing."""
    names = sorted(arm.key.benchmark for arm in arms)
    stem, levels = names[0].rpartition("_l")[0], [name.rpartition("_l")[2] for name in names]
    is_span = int(levels[-1]) - int(levels[0]) == len(levels) - 1
    return f"{stem}_l{levels[0]}-l{levels[-1]}" if is_span else f"{stem}_l" + "+l".join(levels)
