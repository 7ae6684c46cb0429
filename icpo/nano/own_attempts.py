"""The model's own attempts at fresh problems: histories are made of them, and targets are chosen among them.

So the policy that tagged ideas improve is the model's own (paper, Section 3), and what is tagged 0 is what it
would itself have written. Each problem is met a few times only, or it would be learned by heart.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from icpo.arithmetic import Chain, Operation, Problem, Step
from icpo.nano.examples import Source
from icpo.nano.workings import read_working, read_workings


@dataclass(frozen=True, slots=True)
class Attempted:
    """A training problem with completions at the temperature of attempts, and at temperature 1."""

    problem: Problem
    attempts: tuple[str, ...]
    policy_samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnAttempts:
    """Problems for which the model wrote a readable working at each temperature."""

    SUFFIX: ClassVar[str] = ".jsonl"
    problems: Sequence[Attempted]

    @property
    def is_enough(self) -> bool:
        """Whether there is any problem."""
        return bool(self.problems)

    def __str__(self) -> str:
        return f"{len(self.problems)} problems"

    def source(self, rng: Random) -> Source:
        """One of the problems; its attempts are drawn with replacement."""
        chosen = rng.choice(self.problems)
        attempts = read_workings(chosen.attempts)
        return Source(chosen.problem, partial(rng.choice, attempts), read_workings(chosen.policy_samples))

    def write(self, path: Path) -> None:
        """As JSON, a problem a line."""
        with path.open("w", encoding="utf-8") as file:
            for attempted in self.problems:
                file.write(json.dumps(asdict(attempted)) + "\n")

    @classmethod
    def read(cls, path: Path) -> "OwnAttempts":
        """What `write` wrote."""
        with path.open(encoding="utf-8") as file:
            return cls([_attempted(json.loads(line)) for line in file])

    @classmethod
    def of(
        cls,
        problems: Sequence[Problem],
        attempts: Sequence[Sequence[str]],
        policy_samples: Sequence[Sequence[str]],
    ) -> "OwnAttempts":
        """What was sampled, row by row; texts that hold no working are left out."""
        rows = (
            Attempted(problem, _readable(row), _readable(samples))
            for problem, row, samples in zip(problems, attempts, policy_samples, strict=True)
        )
        return cls([r for r in rows if r.attempts and r.policy_samples])


def _readable(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if read_working(text))


def _attempted(row: dict[str, Any]) -> Attempted:
    problem = row["problem"]
    steps = tuple(Step(Operation(s["operation"]), s["operand"]) for s in problem["chain"]["steps"])
    chain = Chain(problem["chain"]["start"], steps)
    return Attempted(
        Problem(problem["problem_id"], problem["text"], chain),
        tuple(row["attempts"]),
        tuple(row["policy_samples"]),
    )
