"""Histories as they arise at test time: rounds of attempts, tags by majority vote, one idea kept a round."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from icpo.nano.workings import Working
from icpo.types import Attempt, Candidate, Completion, FinishReason

POOL_SIZES = (4, 8, 8, 16)
KEEP_WINNER_SHARE = 0.5


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


def draw_history(draw_attempt: Callable[[], Working], num_ideas: int, rng: Random) -> tuple[Idea, ...]:
    """`num_ideas` rounds: each draws a pool, tags it by majority vote and keeps one idea.

    From the second round on some attempts repeat the last idea tagged 1, as a model that reads its history
    does, so that later votes tell less than they seem to. How many do, is drawn once a history. Half of
    the time one of the winners is kept, else any attempt of the pool.
    """
    copy_share = rng.random() * 0.9
    history: list[Idea] = []
    for _ in range(num_ideas):
        good = [idea.working for idea in history if idea.reward == 1]
        share = copy_share if good else 0.0
        copies = (rng.random() < share for _ in range(rng.choice(POOL_SIZES)))
        pool = [good[-1] if is_copy else draw_attempt() for is_copy in copies]
        winner = majority_answer(pool, rng)
        winners = [w for w in pool if w.answer == winner]
        kept = rng.choice(winners if rng.random() < KEEP_WINNER_SHARE else pool)
        history.append(Idea(kept, int(kept.answer == winner)))
    return tuple(history)


def random_tags(history: Sequence[Idea], rng: Random) -> tuple[Idea, ...]:
    """The same ideas with tags that tell nothing: each is 1 with the share that majority votes give."""
    share = KEEP_WINNER_SHARE + (1 - KEEP_WINNER_SHARE) / 2
    return tuple(Idea(idea.working, int(rng.random() < share)) for idea in history)
