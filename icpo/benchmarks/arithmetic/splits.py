"""Train, dev and test splits, decided by a chain's digest.

No whole chain is in two splits. Parts of chains are: most one-step test chains occur inside longer training
chains (experiments/nano/overlap.py counts them).
"""

from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from random import Random

from icpo.benchmarks.arithmetic.chains import RULES, Rules, draw_chain
from icpo.benchmarks.arithmetic.problem import Chain, Problem
from icpo.benchmarks.arithmetic.stories import HELDOUT_WORLDS, TRAIN_WORLDS, World
from icpo.benchmarks.arithmetic.telling import tell
from icpo.seeding import derive_seed

NUM_BUCKETS = 20
SET_SIZE = 300


class Split(str, Enum):
    """Where a problem may occur."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"

    @classmethod
    def of(cls, chain: Chain) -> "Split":
        """The split of a chain; a twentieth is test, another dev."""
        return {0: cls.TEST, 1: cls.DEV}.get(chain.digest % NUM_BUCKETS, cls.TRAIN)


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """A named set: chain lengths, operands and worlds."""

    lengths: tuple[int, ...]
    rules: Rules
    worlds: tuple[World, ...]


HELDOUT_RULES = replace(
    RULES, addends=(1000, 1999), small_factors=(101, 129), large_factors=(101, 129), divisors=(10, 19)
)
LEVELS = {f"l{n}": ProblemSet((n,), RULES, TRAIN_WORLDS) for n in range(1, 6)}
HELDOUT_SETS = {
    "heldout_templates": ProblemSet((2, 3, 4), RULES, HELDOUT_WORLDS),
    "heldout_operands": ProblemSet((2, 3, 4), HELDOUT_RULES, TRAIN_WORLDS),
    "heldout_length": ProblemSet((6,), RULES, TRAIN_WORLDS),
}


def draw_problem(
    rng: Random, num_steps: int, split: Split, rules: Rules, worlds: tuple[World, ...]
) -> Problem:
    """A problem of a split, by sampling chains until one fits."""
    while Split.of(chain := draw_chain(rng, num_steps, rules)) is not split:
        pass
    return Problem(f"{chain.digest:016x}", tell(rng, chain, worlds), chain)


@cache
def questions(split: str, level: str, count: int | None = None) -> tuple[Problem, ...]:
    """The first `count` problems of a split and level (None: 300).

    No two have the same chain. `level` is l1 to l5 (that many steps) or a held-out set: heldout_templates,
    heldout_operands, heldout_length. Held-out sets exist for dev and test alone. Raises ValueError for an
    unknown name or a count out of range.
    """
    sets = LEVELS if split == Split.TRAIN else LEVELS | HELDOUT_SETS
    if level not in sets:
        raise ValueError(f"level must be one of {', '.join(sets)} for split {split}, got {level!r}")
    if count is not None and not 1 <= count <= SET_SIZE:
        raise ValueError(f"count must be in [1, {SET_SIZE}], got {count}")
    if count != SET_SIZE:
        return questions(split, level, SET_SIZE)[:count]
    return _draw_set(Split(split), level, sets[level])


def _draw_set(split: Split, name: str, problem_set: ProblemSet) -> tuple[Problem, ...]:
    rng = Random(derive_seed(0, "arithmetic", split.value, name))
    problems: dict[str, Problem] = {}
    while len(problems) < SET_SIZE:
        num_steps = problem_set.lengths[len(problems) % len(problem_set.lengths)]
        problem = draw_problem(rng, num_steps, split, problem_set.rules, problem_set.worlds)
        named = replace(problem, problem_id=f"{name}-{problem.problem_id}")
        problems.setdefault(problem.chain.canonical, named)
    return tuple(problems.values())
