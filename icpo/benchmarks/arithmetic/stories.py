"""Worlds in which a chain is told: who, what, and two ways (finite, gerund) to say each operation."""

from dataclasses import dataclass
from random import Random

from icpo.benchmarks.arithmetic.problem import Operation

Phrase = tuple[str, str]

GIRLS = ("Mia", "Anna", "Lena", "Zoe", "Nora", "Ida", "Ruth", "Clara", "Eva", "Lucy", "Tara", "Yuki")
BOYS = ("Tom", "Ben", "Omar", "Leo", "Paul", "Ravi", "Max", "Finn", "Hugo", "Sam", "Igor", "Jack")


@dataclass(frozen=True, slots=True)
class World:
    """One kind of story. `subject` is {name}, or a thing; {n} is a number and {items} what is counted."""

    subject: str
    items: tuple[str, ...]
    openings: tuple[str, ...]
    phrases: dict[Operation, tuple[Phrase, ...]]
    endings: tuple[str, ...]


COLLECTION = World(
    subject="{name}",
    items=("marbles", "stickers", "coins", "cards", "shells", "stamps", "beads", "buttons"),
    openings=(
        "{name} has {n} {items}.",
        "{name} keeps {n} {items} in a box.",
        "At first {name} owns {n} {items}.",
    ),
    phrases={
        Operation.PLUS: (
            ("buys {n} more", "buying {n} more"),
            ("finds {n} more", "finding {n} more"),
            ("gets {n} from a friend", "getting {n} from a friend"),
        ),
        Operation.MINUS: (
            ("gives away {n}", "giving away {n}"),
            ("loses {n}", "losing {n}"),
            ("sells {n} of them", "selling {n} of them"),
        ),
        Operation.TIMES: (
            ("swaps each one for {n} new ones", "swapping each one for {n} new ones"),
            ("makes the collection {n} times as large", "making the collection {n} times as large"),
        ),
        Operation.DIVIDE: (
            (
                "splits them into {n} equal piles and keeps one",
                "splitting them into {n} equal piles and keeping one",
            ),
            (
                "shares them equally among {n} people, being one",
                "sharing them equally among {n} people, being one",
            ),
        ),
    },
    endings=("How many {items} does {name} have now?", "How many {items} are left with {name} in the end?"),
)

GAME = World(
    subject="{name}",
    items=("points", "stars", "gems"),
    openings=("{name} starts a game with {n} {items}.", "In a game {name} already has {n} {items}."),
    phrases={
        Operation.PLUS: (
            ("wins {n} {items}", "winning {n} {items}"),
            ("earns a bonus of {n}", "earning a bonus of {n}"),
        ),
        Operation.MINUS: (
            ("pays a penalty of {n}", "paying a penalty of {n}"),
            ("drops {n} {items}", "dropping {n} {items}"),
        ),
        Operation.TIMES: (
            (
                "hits a field that multiplies the score by {n}",
                "hitting a field that multiplies the score by {n}",
            ),
            ("plays a times-{n} card", "playing a times-{n} card"),
        ),
        Operation.DIVIDE: (
            ("hits a trap that divides the score by {n}", "hitting a trap that divides the score by {n}"),
            ("plays a divide-by-{n} card", "playing a divide-by-{n} card"),
        ),
    },
    endings=(
        "What is the score of {name} in {items} now?",
        "How many {items} does {name} end the game with?",
    ),
)

WAREHOUSE = World(
    subject="the store",
    items=("boxes", "crates", "sacks", "barrels", "bottles"),
    openings=("A store holds {n} {items}.", "In the morning a store counts {n} {items}."),
    phrases={
        Operation.PLUS: (
            ("receives {n} {items}", "receiving {n} {items}"),
            ("takes in {n} more", "taking in {n} more"),
        ),
        Operation.MINUS: (
            ("ships {n} {items}", "shipping {n} {items}"),
            ("throws out {n}", "throwing out {n}"),
        ),
        Operation.TIMES: (
            ("grows its stock to {n} times its size", "growing its stock to {n} times its size"),
            ("repacks each one into {n} smaller ones", "repacking each one into {n} smaller ones"),
        ),
        Operation.DIVIDE: (
            ("bundles them by {n} into larger ones", "bundling them by {n} into larger ones"),
            ("keeps one of {n} equal parts", "keeping one of {n} equal parts"),
        ),
    },
    endings=("How many {items} does the store hold now?", "How many {items} are in the store at night?"),
)

SAVINGS = World(
    subject="{name}",
    items=("dollars", "euros", "crowns"),
    openings=("{name} has saved {n} {items}.", "There are {n} {items} in the account of {name}."),
    phrases={
        Operation.PLUS: (
            ("puts in another {n} {items}", "putting in another {n} {items}"),
            ("inherits {n} {items}", "inheriting {n} {items}"),
        ),
        Operation.MINUS: (
            ("spends {n} {items}", "spending {n} {items}"),
            ("lends {n} {items} to a cousin", "lending {n} {items} to a cousin"),
        ),
        Operation.TIMES: (
            (
                "invests it all and gets back {n} times as much",
                "investing it all and getting back {n} times as much",
            ),
        ),
        Operation.DIVIDE: (
            (
                "divides the sum by {n} and holds on to one share",
                "dividing the sum by {n} and holding on to one share",
            ),
        ),
    },
    endings=("How much money, in {items}, does {name} have at last?",),
)

FARM = World(
    subject="the farm",
    items=("eggs", "apples", "pears", "melons"),
    openings=("A farm has {n} {items} to sell.", "On Monday there are {n} {items} on a farm."),
    phrases={
        Operation.PLUS: (("harvests {n} further {items}", "harvesting {n} further {items}"),),
        Operation.MINUS: (("brings {n} {items} to market", "bringing {n} {items} to market"),),
        Operation.TIMES: (("raises the amount {n}-fold", "raising the amount {n}-fold"),),
        Operation.DIVIDE: (
            (
                "hands the lot to {n} sisters in equal shares, one of them staying",
                "handing the lot to {n} sisters",
            ),
        ),
    },
    endings=("How many {items} remain on the farm?",),
)

TRAIN_WORLDS = (COLLECTION, GAME, WAREHOUSE)
HELDOUT_WORLDS = (SAVINGS, FARM)

DISTRACTORS = (
    "{other} has {n} {items} too.",
    "It takes {n} minutes.",
    "There are {n} people watching.",
    "The street number is {n}.",
    "It is day {n} of the year.",
)
FIRST_WORDS = ("", "First, ", "To begin, ")
NEXT_WORDS = ("", "Then ", "Next, ", "After that, ", "Later, ")
LAST_WORDS = ("", "Finally, ", "At the end, ", "Then ")


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
