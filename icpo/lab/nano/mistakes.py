"""A simulated solver: on one problem its attempts go wrong in ways that repeat, as a model's samples do."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from random import Random
from typing import Protocol, TypeVar

from icpo.benchmarks.arithmetic import Chain, Operation, Step
from icpo.lab.nano.solutions import Line, Solution

LARGE_FACTOR = 10
CONCENTRATION = 1.5
MAX_VALUE = 999_999

Outcomes = tuple[list[int], list[float]]


class Mistakes(Protocol):
    """How steps and readings of the story go wrong."""

    @property
    def misreading_rate(self) -> float:
        """Share of attempts that do other steps than the story tells."""

    def outcomes(self, rng: Random, value: int, step: Step) -> Outcomes:
        """Results of a step on one problem, the right one first, and their probabilities."""


@dataclass(frozen=True, slots=True)
class AssumedMistakes:
    """Mistakes before the model's own are known: one digit off, at rates that scatter from step to step."""

    misreading_rate: float = 0.06

    def outcomes(self, rng: Random, value: int, step: Step) -> Outcomes:
        """The right result and one to four slips."""
        right = careful_result(value, step)
        rate = min(0.9, _ASSUMED_RATES[step_class(step)] * rng.uniform(0.3, 1.7))
        wrong_share = rng.betavariate(CONCENTRATION * rate, CONCENTRATION * (1 - rate))
        slips = [slip(right, rng) for _ in range(rng.randint(1, 4))]
        weights = [rng.expovariate(1.0) for _ in slips]
        scale = wrong_share / sum(weights)
        return [right, *slips], [1 - wrong_share, *(w * scale for w in weights)]


class SimulatedSolver:
    """Draws attempts at one chain.

    What may come out of a step is drawn once a problem, the first time the step is met with a given value. So
    pools differ in how often the right answer wins, and wrong answers win too.
    """

    def __init__(self, chain: Chain, rng: Random, mistakes: Mistakes) -> None:
        self._rng = rng
        self._start = chain.start
        self._mistakes = mistakes
        plans, weights = _plans(chain.steps, rng, mistakes.misreading_rate)
        self._plans = plans, list(accumulate(weights))
        self._outcomes: dict[tuple[int, Step], tuple[list[Line], list[float]]] = {}  # shares added up

    def attempt(self) -> Solution:
        """One more attempt."""
        plans, weights = self._plans
        value, lines = self._start, []
        for step in _draw(plans, weights, self._rng):
            outcomes = self._outcomes.get((value, step))
            if outcomes is None:
                results, shares = self._mistakes.outcomes(self._rng, value, step)
                written = [Line(value, step.operation, step.operand, after) for after in results]
                outcomes = self._outcomes[value, step] = written, list(accumulate(shares))
            line = _draw(*outcomes, self._rng)
            lines.append(line)
            value = line.after
        return Solution(tuple(lines), value)


T = TypeVar("T")


def _draw(values: Sequence[T], cumulative_weights: Sequence[float], rng: Random) -> T:
    """What `Random.choices` draws, at a third of its cost."""
    place = bisect(cumulative_weights, rng.random() * cumulative_weights[-1], 0, len(values) - 1)
    return values[place]


def step_class(step: Step) -> str:
    """The operation, with multiplications by two digits apart: what decides how hard a step is."""
    is_large = step.operation is Operation.TIMES and step.operand >= LARGE_FACTOR
    return step.operation.name.lower() + ("_large" if is_large else "")


STEP_CLASSES = ("plus", "minus", "times", "times_large", "divide")
_ASSUMED_RATES = {"plus": 0.05, "minus": 0.06, "times": 0.1, "times_large": 0.45, "divide": 0.1}


def careful_result(value: int, step: Step) -> int:
    """What a careful solver writes for a step: bounded, never negative, divisions rounded down."""
    if step.operation is Operation.DIVIDE:
        return value // step.operand
    result: int = step.operation.apply(value, step.operand)
    return min(MAX_VALUE, max(0, result))


def num_wrong_steps(solution: Solution) -> int:
    """How many lines of a solution have a result that a careful solver would not write."""
    return sum(_is_wrong(line) for line in solution.lines)


@lru_cache(65536)
def _is_wrong(line: Line) -> bool:
    return careful_result(line.before, Step(line.operation, line.operand)) != line.after


def slip(right: int, rng: Random) -> int:
    """A number that differs from `right` in one digit, mostly an inner one and mostly by one."""
    digits = str(right)
    inner = range(1, len(digits) - 1)
    place = rng.choice(inner) if inner and rng.random() < 0.7 else rng.randrange(len(digits))
    unit: int = 10 ** (len(digits) - 1 - place)
    size = rng.choice((1, 1, 1, 1, 2, 2, 3, 4, 5))
    wrong = right + rng.choice((-1, 1)) * size * unit
    return wrong if wrong > 0 else right + size * unit


def _plans(
    steps: Sequence[Step], rng: Random, misreading_rate: float
) -> tuple[list[tuple[Step, ...]], list[float]]:
    """The steps as they should be done, and at times a tempting other reading of the story, with weights.

    So many problems have one that, at its mean weight, `misreading_rate` of all attempts follow it.
    """
    plans, weights = [tuple(steps)], [1.0]
    if len(steps) > 1 and rng.random() < 3 * misreading_rate:
        i = rng.randrange(len(steps) - 1)
        swapped = (*steps[:i], steps[i + 1], steps[i], *steps[i + 2 :])
        left_out = (*steps[:i], *steps[i + 1 :])
        plans.append(rng.choice((swapped, swapped, left_out)))
        weights.append(rng.uniform(0.05, 1.0))
    return plans, weights
