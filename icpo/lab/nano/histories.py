"""Simulated histories: rounds of attempts, tags by majority vote, one idea kept a round.

Their form is that of test time; losers are kept more often than a method keeps them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp
from random import Random

from icpo.lab.nano.mistakes import num_wrong_steps
from icpo.lab.nano.sampling import TEMPERATURE
from icpo.lab.nano.solutions import Solution
from icpo.types import Attempt, Candidate, Completion, FinishReason

POOL_SIZES = (4, 8, 8, 16)
KEPT_WEIGHTS = {"winner": 0.25, "any": 0.35, "loser": 0.4}
RANDOM_TAG_SHARE = 0.7  # of random tags are 1: about as many as votes give with these weights


@dataclass(frozen=True, slots=True)
class Update:
    """One step of mirror descent, by a reward estimate that is linear in two features of an attempt.

    One feature is its answer; the other, with `error_weight`, is its number of wrong steps: who was told off
    for a wrong step takes more care with all of them. A tag of 1 counts +1, a tag of 0 counts -1 (paper,
    Section 3); `step_size` multiplies the estimate.
    """

    step_size: float
    error_weight: float

    def __post_init__(self) -> None:
        if self.step_size < 0:
            raise ValueError(f"step_size must not be negative, got {self.step_size}")
        if self.error_weight < 0:
            raise ValueError(f"error_weight must not be negative, got {self.error_weight}")


@dataclass(frozen=True, slots=True)
class Idea:
    """A solution with the tag it was given."""

    solution: Solution
    reward: int | None

    @property
    def attempt(self) -> Attempt:
        """As it stands in a history."""
        text = self.solution.text
        candidate = Candidate(Completion(text, 0, 0, FinishReason.STOP), str(self.solution.answer))
        return Attempt(candidate, self.reward, self.solution.summary)


def majority_answer(solutions: Sequence[Solution], rng: Random) -> int:
    """The most frequent answer; ties are broken by a draw."""
    counts = Counter(w.answer for w in solutions).most_common()
    return rng.choice([answer for answer, n in counts if n == counts[0][1]])


def draw_history(
    draw_attempt: Callable[[], Solution], num_ideas: int, update: Update, rng: Random
) -> tuple[Idea, ...]:
    """A trajectory of `num_ideas` rounds: each draws a pool, tags it by majority vote and keeps one idea.

    Some histories keep winners alone, some whatever comes: their pools are `updated` by the ideas so far, by
    a step larger than that of `update`, since attempts are drawn at a temperature below 1 (so the first pool
    too is drawn with replacement). The others keep losers where there are any, from attempts as they come.
    """
    [kind] = rng.choices(list(KEPT_WEIGHTS), list(KEPT_WEIGHTS.values()))
    sharper = replace(update, step_size=update.step_size / TEMPERATURE)
    history: list[Idea] = []
    for _ in range(num_ideas):
        size = rng.choice(POOL_SIZES)
        pool = [draw_attempt() for _ in range(size)]
        if kind != "loser":
            pool = updated(pool, history, sharper, size, rng)
        winner = majority_answer(pool, rng)
        eligible = [w for w in pool if kind == "any" or (w.answer == winner) == (kind == "winner")]
        kept = rng.choice(eligible or pool)
        history.append(Idea(kept, int(kept.answer == winner)))
    return tuple(history)


def updated(
    draws: Sequence[Solution], history: Sequence[Idea], update: Update, size: int, rng: Random
) -> list[Solution]:
    """`size` draws from a policy after the updates of a history, given draws from the policy before.

    Each tagged idea moves the log-probability of an attempt as `update` says; untagged ideas move nothing.
    Ideas tagged 1 may recur themselves.
    """
    of_answer: Counter[int] = Counter()
    of_wrong_step = 0
    for idea in history:
        if idea.reward is not None:
            sign = 1 if idea.reward else -1
            of_answer[idea.solution.answer] += sign
            of_wrong_step += sign * num_wrong_steps(idea.solution)
    if not of_answer:
        return rng.choices(draws, k=size)

    pool = [*draws, *dict.fromkeys(idea.solution for idea in history if idea.reward)]
    estimates: list[float] = [of_answer[w.answer] for w in pool]
    if of_wrong_step:
        weight = update.error_weight * of_wrong_step
        estimates = [e + weight * num_wrong_steps(w) for e, w in zip(estimates, pool, strict=True)]
    highest = max(estimates)
    return rng.choices(pool, [exp(update.step_size * (e - highest)) for e in estimates], k=size)


def random_tags(history: Sequence[Idea], share: float, rng: Random) -> tuple[Idea, ...]:
    """The same ideas with tags independent of the vote: each is 1 with probability `share`."""
    return tuple(Idea(idea.solution, int(rng.random() < share)) for idea in history)
