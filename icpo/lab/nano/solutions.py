"""Worked solutions as nano writes them: one line a step, then the boxed answer; and their summaries."""

import re
from typing import NamedTuple

from icpo.benchmarks.arithmetic import Chain, Operation

_LINE = re.compile(r"(\d+) ([-+*/]) (\d+) = (\d+)")
_BOX = re.compile(r"boxed\{(\d+)\}")
_WORDS = {
    Operation.PLUS: "plus",
    Operation.MINUS: "minus",
    Operation.TIMES: "times",
    Operation.DIVIDE: "over",
}


class Line(NamedTuple):
    """One step as it was written, right or wrong."""

    before: int
    operation: Operation
    operand: int
    after: int


class Solution(NamedTuple):
    """A worked solution, right or wrong."""

    lines: tuple[Line, ...]
    answer: int

    @property
    def text(self) -> str:
        """The completion that holds it."""
        steps = (f"{x.before} {x.operation.value} {x.operand} = {x.after}\n" for x in self.lines)
        return "".join(steps) + f"boxed{{{self.answer}}}"

    @property
    def summary(self) -> str:
        """Its own steps and values in words; a break in the chain of values is told too."""
        parts, value = [], None
        for line in self.lines:
            if line.before != value:
                parts.append(f"from {line.before}")
            parts.append(f"{_WORDS[line.operation]} {line.operand} is {line.after}")
            value = line.after
        return ", ".join((*parts, f"so boxed{{{self.answer}}}"))


def right_solution(chain: Chain) -> Solution:
    """The right solution of a chain."""
    befores = (chain.start, *chain.values)
    lines = (
        Line(before, step.operation, step.operand, after)
        for before, step, after in zip(befores, chain.steps, chain.values, strict=False)
    )
    return Solution(tuple(lines), chain.values[-1])


def read_solution(text: str) -> Solution | None:
    """The solution that a completion holds; None unless the whole text is one."""
    *rows, last = text.strip().split("\n")
    lines = [_LINE.fullmatch(row) for row in rows]
    box = _BOX.fullmatch(last)
    if box is None or not all(lines):
        return None
    return Solution(
        tuple(Line(int(m[1]), Operation(m[2]), int(m[3]), int(m[4])) for m in lines if m), int(box[1])
    )


def read_answer(text: str) -> str | None:
    """The last boxed whole number of a completion; None if there is none."""
    boxes = _BOX.findall(text)
    return str(int(boxes[-1])) if boxes else None
