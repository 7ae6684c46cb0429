"""The policy that nano is trained on: a solver that forgets carries, and what tagged ideas make of it.

An attempt does the right steps, but carries (and borrows) are forgotten, the more often the later the step:
longer chains and larger numbers go wrong more often, and seldom twice in the same way. Tagged ideas improve
this policy (`histories.updated`), so that training shows trajectories of policy optimisation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from random import Random

from icpo.benchmarks.arithmetic import Chain, Operation, Step
from icpo.lab.nano.histories import Idea, Update, updated
from icpo.lab.nano.mistakes import careful_result
from icpo.lab.nano.solutions import Line, Solution

NUM_DRAWS = 16


@dataclass(frozen=True, slots=True)
class Policy:
    """How often carries are forgotten, and what a tag does (`update`).

    The first step forgets a share of `lapse_rate` of its carries, each later one `lapse_growth` times that
    share more.
    """

    lapse_rate: float
    lapse_growth: float
    update: Update

    def __post_init__(self) -> None:
        if not 0 <= self.lapse_rate < 1:
            raise ValueError(f"lapse_rate must lie in [0, 1), got {self.lapse_rate}")
        if self.lapse_growth < 0:
            raise ValueError(f"lapse_growth must not be negative, got {self.lapse_growth}")

    def error_rate_at(self, index: int) -> float:
        """The share of carries forgotten in a step, counted from 0."""
        return min(1.0, self.lapse_rate * (1 + self.lapse_growth * index))

    def attempt(self, chain: Chain, rng: Random) -> Solution:
        """A draw from the policy before any update."""
        value, lines = chain.start, []
        for i, step in enumerate(chain.steps):
            rate = self.error_rate_at(i)
            after, amounts = _careful(value, step)
            for amount in amounts:
                if rng.random() < rate:
                    after += amount
            lines.append(Line(value, step.operation, step.operand, after))
            value = after
        return Solution(tuple(lines), value)

    def attempt_after(self, chain: Chain, history: Sequence[Idea], rng: Random) -> Solution:
        """A draw from the policy after the updates of a history; untagged ideas leave it as it is."""
        draws = [self.attempt(chain, rng) for _ in range(NUM_DRAWS if history else 1)]
        [chosen] = updated(draws, history, self.update, 1, rng)
        return chosen


FLAWLESS = Policy(lapse_rate=0.0, lapse_growth=0.0, update=Update(step_size=0.0, error_weight=0.0))


@lru_cache(4096)
def _careful(value: int, step: Step) -> tuple[int, list[int]]:
    return careful_result(value, step), carries(value, step)


def carries(value: int, step: Step) -> list[int]:
    """By how much a step's result changes for each carry or borrow that is forgotten; none for divisions.

    One that would change the number of digits is never forgotten.
    """
    right, operand = careful_result(value, step), step.operand
    powers = [10**place for place in range(1, len(str(right)))]
    match step.operation:
        case Operation.PLUS:
            amounts = [-p for p in powers if value % p + operand % p >= p]
        case Operation.MINUS:
            amounts = [p for p in powers if value % p < operand % p]
        case Operation.TIMES:
            amounts = [-p for p, low in zip(powers, _columns(value, operand), strict=False) if low >= p]
        case Operation.DIVIDE:
            amounts = []
    return [a for a in amounts if len(str(right + a)) == len(str(right)) and right + a > 0]


def _columns(value: int, factor: int) -> list[int]:
    """What the last column, the last two and so on of a multiplication on paper add up to."""
    upper, lower = ([int(digit) for digit in reversed(str(number))] for number in (value, factor))
    columns = [0] * (len(upper) + len(lower))
    for i, a in enumerate(upper):
        for j, b in enumerate(lower):
            columns[i + j] += a * b
    return list(accumulate(column * 10**place for place, column in enumerate(columns)))
