"""Worlds for stories: people, things, and two ways to phrase each operation."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from random import Random
from typing import Any

import yaml

from icpo.benchmarks.arithmetic.problem import Operation

Phrase = tuple[str, str]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C takes a tenth of the time
_DATA: dict[str, Any] = yaml.load(files(__package__).joinpath("stories.yaml").read_bytes(), _LOADER)


@dataclass(frozen=True, slots=True)
class World:
    """One kind of story, with the fields {name}, {n} and {items}."""

    subject: str
    items: tuple[str, ...]
    openings: tuple[str, ...]
    phrases: dict[Operation, tuple[Phrase, ...]]
    endings: tuple[str, ...]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "World":
        """A world as stories.yaml writes it."""
        texts = {name: tuple(data[name]) for name in ("items", "openings", "endings")}
        phrases = {
            Operation(sign): tuple((a, b) for a, b in pairs) for sign, pairs in data["phrases"].items()
        }
        return cls(subject=data["subject"], phrases=phrases, **texts)


GIRLS, BOYS = tuple(_DATA["girls"]), tuple(_DATA["boys"])
TRAIN_WORLDS = tuple(map(World.of, _DATA["train"]))
HELDOUT_WORLDS = tuple(map(World.of, _DATA["heldout"]))
DISTRACTORS = tuple(_DATA["distractors"])
FIRST_WORDS, NEXT_WORDS, LAST_WORDS = (tuple(_DATA[f"{place}_words"]) for place in ("first", "next", "last"))


@dataclass(frozen=True, slots=True)
class Cast:
    """The choices that stay fixed in one story."""

    world: World
    name: str
    pronoun: str
    items: str
    other: str

    @classmethod
    def draw(cls, rng: Random, worlds: tuple[World, ...]) -> "Cast":
        """Draws a world, a person, another person and what is counted."""
        world = rng.choice(worlds)
        names, pronoun = rng.choice(((GIRLS, "she"), (BOYS, "he")))
        name = rng.choice(names)
        other = rng.choice([n for n in (*GIRLS, *BOYS) if n != name])
        return cls(world, name, pronoun, rng.choice(world.items), other)

    def fill(self, template: str, number: int | None = None) -> str:
        """The template with this story's words and a number."""
        return (
            template.replace("{n}", str(number))
            .replace("{items}", self.items)
            .replace("{name}", self.name)
            .replace("{other}", self.other)
        )
