"""The policy that nano is trained on: a solver that forgets carries, and what tagged ideas make of it.

An attempt does the right steps, but each carry (and each borrow) is forgotten at a fixed rate: longer chains
and larger numbers go wrong more often, and seldom twice in the same way. Tagged ideas improve this policy
(`histories.updated`), so that training shows trajectories of policy optimisation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from icpo.arithmetic import Chain, Operation, Step
from icpo.nano.histories import Idea, updated
from icpo.nano.mistakes import careful_result
from icpo.nano.workings import Line, Working

NUM_DRAWS = 16


@dataclass(frozen=True, slots=True)
class Policy:
    """`lapse_rate` is the share of carries that are forgotten; `step_size` that of one update."""

    lapse_rate: float
    step_size: float

    def __post_init__(self) -> None:
        if not 0 <= self.lapse_rate < 1:
            raise ValueError(f"lapse_rate must lie in [0, 1), got {self.lapse_rate}")
        if self.step_size < 0:
            raise ValueError(f"step_size must not be negative, got {self.step_size}")

    def attempt(self, chain: Chain, rng: Random) -> Working:
        """A draw from the policy before any update."""
        value, lines = chain.start, []
        for step in chain.steps:
            lapses = sum(amount for amount in carries(value, step) if rng.random() < self.lapse_rate)
            after = careful_result(value, step) + lapses
            lines.append(Line(value, step.operation, step.operand, after))
            value = after
        return Working(tuple(lines), value)

    def attempt_after(self, chain: Chain, history: Sequence[Idea], rng: Random) -> Working:
        """A draw from the policy after the updates of a history; untagged ideas leave it as it is."""
        draws = [self.attempt(chain, rng) for _ in range(NUM_DRAWS if history else 1)]
        [chosen] = updated(draws, history, self.step_size, 1, rng)
        return chosen


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
            amounts = [-p for p in powers if _carried(value, operand, p)]
        case Operation.DIVIDE:
            amounts = []
    return [a for a in amounts if len(str(right + a)) == len(str(right)) and right + a > 0]


def _carried(value: int, factor: int, power: int) -> bool:
    """Whether the columns below `power` of a multiplication on paper carry into it."""
    low: int = sum(
        int(a) * int(b) * 10 ** (i + j)
        for i, a in enumerate(reversed(str(value)))
        for j, b in enumerate(reversed(str(factor)))
        if 10 ** (i + j) < power
    )
    return low >= power
