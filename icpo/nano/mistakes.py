"""A simulated solver: on one problem its attempts go wrong in ways that repeat, as a model's samples do."""

from collections.abc import Sequence
from random import Random

from icpo.arithmetic import Chain, Operation, Step
from icpo.nano.workings import Line, Working

LARGE_FACTOR = 10
ERROR_RATES = {Operation.PLUS: 0.05, Operation.MINUS: 0.06, Operation.TIMES: 0.1, Operation.DIVIDE: 0.1}
LARGE_FACTOR_ERROR_RATE = 0.45
CONCENTRATION = 1.5
PLAN_SLIP_SHARE = 0.2
MAX_VALUE = 99_999


class SimulatedSolver:
    """Draws attempts at one chain.

    What may come out of a step is drawn once a problem, the first time the step is met with a given value:
    the right value and up to four wrong ones, with probabilities that scatter from problem to problem around
    `ERROR_RATES`. So pools differ in how often the right answer wins, and wrong answers win too.
    """

    def __init__(self, chain: Chain, rng: Random) -> None:
        self._rng = rng
        self._start = chain.start
        self._plans = _plans(chain.steps, rng)
        self._care = rng.uniform(0.3, 1.7)
        self._outcomes: dict[tuple[int, Step], tuple[list[int], list[float]]] = {}

    def attempt(self) -> Working:
        """One more attempt."""
        [plan] = self._rng.choices([p for p, _ in self._plans], [w for _, w in self._plans])
        value, lines = self._start, []
        for step in plan:
            after = self._after(value, step)
            lines.append(Line(value, step.operation, step.operand, after))
            value = after
        return Working(tuple(lines), value)

    def _after(self, value: int, step: Step) -> int:
        outcomes = self._outcomes.get((value, step))
        if outcomes is None:
            outcomes = self._outcomes[value, step] = self._draw_outcomes(value, step)
        return self._rng.choices(*outcomes)[0]

    def _draw_outcomes(self, value: int, step: Step) -> tuple[list[int], list[float]]:
        right = nearest_whole(value, step)
        is_large = step.operation is Operation.TIMES and step.operand >= LARGE_FACTOR
        rate = LARGE_FACTOR_ERROR_RATE if is_large else ERROR_RATES[step.operation]
        rate = min(0.9, rate * self._care)
        wrong_share = self._rng.betavariate(CONCENTRATION * rate, CONCENTRATION * (1 - rate))
        slips = [slip(right, self._rng) for _ in range(self._rng.randint(1, 4))]
        weights = [self._rng.expovariate(1.0) for _ in slips]
        scale = wrong_share / sum(weights)
        return [right, *slips], [1 - wrong_share, *(w * scale for w in weights)]


def nearest_whole(value: int, step: Step) -> int:
    """What a careful solver writes for a step: bounded, never negative, rounded down where it does not divide."""
    if step.operation is Operation.DIVIDE:
        return value // step.operand
    return max(0, min(MAX_VALUE, step.operation.apply(value, step.operand)))


def slip(right: int, rng: Random) -> int:
    """A number that differs from `right` in one digit, mostly an inner one and mostly by one."""
    digits = str(right)
    inner = range(1, len(digits) - 1)
    place = rng.choice(inner) if inner and rng.random() < 0.7 else rng.randrange(len(digits))
    unit = 10 ** (len(digits) - 1 - place)
    size = rng.choice((1, 1, 1, 1, 2, 2, 3, 4, 5))
    wrong = right + rng.choice((-1, 1)) * size * unit
    return wrong if wrong > 0 else right + size * unit


def _plans(steps: Sequence[Step], rng: Random) -> list[tuple[tuple[Step, ...], float]]:
    """The steps as they should be done, weight 1, and at times a tempting other reading of the story."""
    plans = [(tuple(steps), 1.0)]
    if len(steps) > 1 and rng.random() < PLAN_SLIP_SHARE:
        i = rng.randrange(len(steps) - 1)
        swapped = (*steps[:i], steps[i + 1], steps[i], *steps[i + 2 :])
        left_out = (*steps[:i], *steps[i + 1 :])
        plans.append((rng.choice((swapped, swapped, left_out)), rng.uniform(0.05, 0.9)))
    return plans
