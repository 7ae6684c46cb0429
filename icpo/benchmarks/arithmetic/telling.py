"""Writes a chain as a story, with sentences out of order."""

from random import Random

from icpo.benchmarks.arithmetic.problem import Chain, Step
from icpo.benchmarks.arithmetic.stories import (
    DISTRACTORS,
    FIRST_WORDS,
    LAST_WORDS,
    NEXT_WORDS,
    Cast,
    World,
)

PAIR_SHARE = 0.25
DISTRACTOR_SHARE = 0.5
DISTRACTOR_NUMBERS = (2, 300)


def tell(rng: Random, chain: Chain, worlds: tuple[World, ...]) -> str:
    """The text of a problem.

    Two neighbouring steps become, with probability `PAIR_SHARE`, one sentence: "After A, B." or
    "Before B, A.", the latter telling them in reverse. With probability `DISTRACTOR_SHARE` it holds one
    sentence with a number that does not matter.
    """
    cast = Cast.draw(rng, worlds)
    sentences = [_sentence(rng, cast, group, i) for i, group in enumerate(_groups(rng, chain))]
    if rng.random() < DISTRACTOR_SHARE:
        distractor = cast.fill(rng.choice(DISTRACTORS), rng.randint(*DISTRACTOR_NUMBERS))
        sentences.insert(rng.randint(0, len(sentences)), distractor)
    opening = cast.fill(rng.choice(cast.world.openings), chain.start)
    return " ".join((opening, *sentences, cast.fill(rng.choice(cast.world.endings))))


def _groups(rng: Random, chain: Chain) -> list[tuple[tuple[Step, ...], str]]:
    """The steps in sentences of one or two, each with the words that may open it."""
    groups: list[tuple[tuple[Step, ...], str]] = []
    rest = chain.steps
    while rest:
        size = 2 if len(rest) > 1 and rng.random() < PAIR_SHARE else 1
        place = FIRST_WORDS if not groups else NEXT_WORDS if len(rest) > size else LAST_WORDS
        groups.append((rest[:size], rng.choice(place)))
        rest = rest[size:]
    return groups


def _sentence(rng: Random, cast: Cast, group: tuple[tuple[Step, ...], str], index: int) -> str:
    steps, opener = group
    subject = cast.name if index == 0 else cast.pronoun
    if "{name}" not in cast.world.subject:
        subject = cast.world.subject
    phrases = [rng.choice(cast.world.phrases[step.operation]) for step in steps]
    finite = [cast.fill(phrase[0], step.operand) for phrase, step in zip(phrases, steps, strict=True)]
    gerund = [cast.fill(phrase[1], step.operand) for phrase, step in zip(phrases, steps, strict=True)]
    if len(steps) == 1:
        text = f"{opener}{subject} {finite[0]}."
    elif rng.random() < 0.5:
        text = f"After {gerund[0]}, {subject} {finite[1]}."
    else:
        text = f"Before {gerund[1]}, {subject} {finite[0]}."
    return text[0].upper() + text[1:]
