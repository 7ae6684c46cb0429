"""Simulated histories: rounds of attempts, tags by majority vote, one idea kept a round.

Their form is that of test time; losers are kept more often than a method keeps them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp
from random import Random

from icpo.nano.sampling import TEMPERATURE
from icpo.nano.workings import Working
from icpo.types import Attempt, Candidate, Completion, FinishReason

POOL_SIZES = (4, 8, 8, 16)
KEPT_WEIGHTS = {"winner": 0.25, "any": 0.35, "loser": 0.4}
RANDOM_TAG_SHARE = 0.7  # of random tags are 1; with these weights votes give some 0.75


@dataclass(frozen=True, slots=True)
class Idea:
    """A working with the tag it was given."""

    working: Working
    reward: int | None

    @property
    def attempt(self) -> Attempt:
        """As it stands in a history."""
        text = self.working.text
        candidate = Candidate(Completion(text, 0, 0, FinishReason.STOP), str(self.working.answer))
        return Attempt(candidate, self.reward, self.working.summary)


def majority_answer(workings: Sequence[Working], rng: Random) -> int:
    """The most frequent answer; ties are broken by a draw."""
    counts = Counter(w.answer for w in workings).most_common()
    return rng.choice([answer for answer, n in counts if n == counts[0][1]])


def draw_history(
    draw_attempt: Callable[[], Working], num_ideas: int, step_size: float, rng: Random
) -> tuple[Idea, ...]:
    """A trajectory of `num_ideas` rounds: each draws a pool, tags it by majority vote and keeps one idea.

    From the second round on pools come from the policy that the ideas so far have updated; its step is larger
    than `step_size`, since attempts are drawn at a temperature below 1. Some histories keep winners alone,
    some keep losers where there are any, the others whatever comes.
    """
    [kind] = rng.choices(list(KEPT_WEIGHTS), list(KEPT_WEIGHTS.values()))
    history: list[Idea] = []
    for _ in range(num_ideas):
        size = rng.choice(POOL_SIZES)
        pool = [draw_attempt() for _ in range(size)]
        if history:
            pool = updated(pool, history, step_size / TEMPERATURE, size, rng)
        winner = majority_answer(pool, rng)
        eligible = [w for w in pool if kind == "any" or (w.answer == winner) == (kind == "winner")]
        kept = rng.choice(eligible or pool)
        history.append(Idea(kept, int(kept.answer == winner)))
    return tuple(history)


def updated(
    draws: Sequence[Working], history: Sequence[Idea], step_size: float, size: int, rng: Random
) -> list[Working]:
    """`size` draws from a policy after the updates of a history, given draws from the policy before.

    One step of mirror descent an idea (paper, Section 3): the log-probability of its answer moves up by
    `step_size` if it was tagged 1, down if it was tagged 0; untagged ideas move nothing. Ideas tagged 1 may
    recur themselves.
    """
    scores: Counter[int] = Counter()
    for idea in history:
        if idea.reward is not None:
            scores[idea.working.answer] += 1 if idea.reward else -1
    pool = [*draws, *dict.fromkeys(idea.working for idea in history if idea.reward)]
    return rng.choices(pool, [exp(step_size * scores[w.answer]) for w in pool], k=size)


def random_tags(history: Sequence[Idea], rng: Random) -> tuple[Idea, ...]:
    """The same ideas with tags that tell nothing: each is 1 with probability RANDOM_TAG_SHARE."""
    return tuple(Idea(idea.working, int(rng.random() < RANDOM_TAG_SHARE)) for idea in history)
