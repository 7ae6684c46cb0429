"""Values of a word problem: a chain of operations and its text."""

import hashlib
from dataclasses import dataclass
from enum import Enum


class Operation(str, Enum):
    """What a step does to the running value, named by its sign."""

    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    DIVIDE = "/"

    def apply(self, value: int, operand: int) -> int:
        """The next value. Raises ValueError for divisions without a whole result."""
        match self:
            case Operation.PLUS:
                return value + operand
            case Operation.MINUS:
                return value - operand
            case Operation.TIMES:
                return value * operand
            case Operation.DIVIDE:
                if operand == 0 or value % operand:
                    raise ValueError(f"{value} / {operand} is not a whole number")
                return value // operand


@dataclass(frozen=True, slots=True)
class Step:
    """One operation with its operand."""

    operation: Operation
    operand: int


@dataclass(frozen=True, slots=True)
class Chain:
    """A computation: a start and the steps applied to it in order."""

    start: int
    steps: tuple[Step, ...]

    @property
    def values(self) -> tuple[int, ...]:
        """The value after each step; the last one is the answer."""
        values = [self.start]
        for step in self.steps:
            values.append(step.operation.apply(values[-1], step.operand))
        return tuple(values[1:])

    @property
    def canonical(self) -> str:
        """The computation without its story, for comparison."""
        return str(self.start) + "".join(f"{s.operation.value}{s.operand}" for s in self.steps)

    @property
    def digest(self) -> int:
        """A 64-bit digest of `canonical`, which decides the split."""
        return int.from_bytes(hashlib.blake2b(self.canonical.encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True)
class Problem:
    """A word problem; `answer` is a whole number in decimal digits."""

    problem_id: str
    text: str
    chain: Chain

    @property
    def answer(self) -> str:
        """The value after the last step."""
        return str(self.chain.values[-1])

    @property
    def steps(self) -> tuple[Step, ...]:
        """The chain's steps, in order of computation, not of the text."""
        return self.chain.steps
