"""Fill templates with people, things and numbers, and compute the answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

import yaml

from icpo.benchmarks.arithmetic.problem import Operation
from icpo.seeding import derive_seed

NUM_PROBLEMS = 200


@dataclass(frozen=True, slots=True)
class Level:
    """A difficulty: templates, and ranges of terms and factors, ends included.

    A factor is what is multiplied or divided by; in `a * b` both are factors.
    """

    templates: str
    terms: tuple[int, int]
    factors: tuple[int, int]
    max_value: int


LEVELS = {
    "l1": Level("one_step", terms=(2, 12), factors=(2, 5), max_value=20),
    "l2": Level("one_step", terms=(11, 60), factors=(3, 12), max_value=120),
    "l3": Level("two_steps", terms=(1, 5), factors=(2, 3), max_value=12),
}


@dataclass(frozen=True, slots=True)
class WordProblem:
    """A question with its answer, a whole number of at least 1."""

    problem_id: str
    text: str
    answer: int


@cache
def word_problems(level: str) -> tuple[WordProblem, ...]:
    """The 200 different problems of a level, the same on every machine.

    Raises ValueError for an unknown level.
    """
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
    rules, data = LEVELS[level], _templates()
    rng = Random(derive_seed(0, "words", level))
    templates = data[rules.templates]
    problems: dict[str, WordProblem] = {}
    while len(problems) < NUM_PROBLEMS:
        template = templates[len(problems) % len(templates)]
        numbers, answer = _numbers(rng, template["answer"], rules)
        name, other = rng.sample(data["people"], 2)
        text = template["text"].format(name=name, other=other, item=rng.choice(data["items"]), **numbers)
        problems.setdefault(text, WordProblem(f"words_{level}/{len(problems):03d}", text, answer))
    return tuple(problems.values())


def evaluate(chain: str, numbers: Mapping[str, int]) -> int:
    """The value of "a * b + c", computed left to right.

    Raises ValueError where a division leaves a remainder.
    """
    first, *rest = chain.split()
    value = numbers[first]
    for operation, name in zip(rest[::2], rest[1::2], strict=True):
        value = Operation(operation).apply(value, numbers[name])
        if value < 1:
            raise ValueError(f"{chain} with {dict(numbers)} falls to {value}")
    return value


def _numbers(rng: Random, chain: str, rules: Level) -> tuple[dict[str, int], int]:
    """Numbers that keep every value of the chain whole and at least 1, and the answer up to `max_value`."""
    names, operations = chain.split()[::2], chain.split()[1::2]
    factors = {name for name, operation in zip(names[1:], operations, strict=True) if operation in "*/"}
    if operations[0] == "*":
        factors.add(names[0])
    while True:
        numbers = {n: rng.randint(*(rules.factors if n in factors else rules.terms)) for n in names}
        try:
            answer = evaluate(chain, numbers)
        except ValueError:
            continue
        if answer <= rules.max_value:
            return numbers, answer


@cache
def _templates() -> dict[str, Any]:
    text = files(__package__).joinpath("templates.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return data
