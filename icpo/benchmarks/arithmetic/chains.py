"""Random chains of operations with whole values within bounds."""

from dataclasses import dataclass
from random import Random

from icpo.benchmarks.arithmetic.problem import Chain, Operation, Step


@dataclass(frozen=True, slots=True)
class Rules:
    """How hard chains are: the ranges (both ends included) of operands.

    `large_factor_shares[i]` is the share of multiplications at i + 1 steps that take a factor from
    `large_factors` rather than `small_factors`; longer chains take the last share. No value leaves
    [1, max_value].
    """

    max_value: int
    starts: tuple[int, int]
    addends: tuple[int, int]
    small_factors: tuple[int, int]
    large_factors: tuple[int, int]
    divisors: tuple[int, int]
    large_factor_shares: tuple[float, ...]

    def large_factor_share(self, num_steps: int) -> float:
        """The share of large factors in a chain of `num_steps` steps."""
        return self.large_factor_shares[min(num_steps, len(self.large_factor_shares)) - 1]


RULES = Rules(
    max_value=29_999,
    starts=(12, 499),
    addends=(11, 999),
    small_factors=(3, 9),
    large_factors=(11, 49),
    divisors=(2, 9),
    large_factor_shares=(0.25, 0.4, 0.5, 0.6, 0.7),
)


def draw_chain(rng: Random, num_steps: int, rules: Rules) -> Chain:
    """A chain of `num_steps` steps; multiplications are twice as likely."""
    start = rng.randint(*rules.starts)
    value, steps = start, []
    for _ in range(num_steps):
        step = _draw_step(rng, value, rules, rules.large_factor_share(num_steps))
        value = step.operation.apply(value, step.operand)
        steps.append(step)
    return Chain(start, tuple(steps))


def _draw_step(rng: Random, value: int, rules: Rules, large_share: float) -> Step:
    factors = rules.large_factors if rng.random() < large_share else rules.small_factors
    divisors = [d for d in range(rules.divisors[0], rules.divisors[1] + 1) if value % d == 0 and value > d]
    ranges = {
        Operation.PLUS: (rules.addends[0], min(rules.addends[1], rules.max_value - value)),
        Operation.MINUS: (rules.addends[0], min(rules.addends[1], value - 1)),
        Operation.TIMES: (factors[0], min(factors[1], rules.max_value // value)),
    }
    fitting = [operation for operation, (low, high) in ranges.items() if low <= high]
    if Operation.TIMES in fitting:
        fitting.append(Operation.TIMES)
    if divisors:
        fitting.append(Operation.DIVIDE)
    operation = rng.choice(fitting)
    operand = rng.choice(divisors) if operation is Operation.DIVIDE else rng.randint(*ranges[operation])
    return Step(operation, operand)
