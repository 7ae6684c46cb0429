"""What the model itself writes for fresh training problems, collected when a phase begins."""

from dataclasses import dataclass, replace
from enum import Enum
from random import Random

from icpo.arithmetic import LEVELS, Problem, Rules, Split, draw_problem
from icpo.arithmetic.stories import TRAIN_WORLDS
from icpo.nano.examples import PromptSet, as_question
from icpo.nano.own_attempts import OwnAttempts
from icpo.nano.own_mistakes import OwnMistakes
from icpo.nano.sampling import Sampler
from icpo.nano.workings import read_workings
from icpo.seeding import derive_seed

POOL_SIZE = 16


class Own(str, Enum):
    """What is kept of the model's samples: how steps went wrong, or the attempts themselves."""

    MISTAKES = "mistakes"
    ATTEMPTS = "attempts"

    @property
    def suffix(self) -> str:
        """Of the file that holds it."""
        return OwnAttempts.SUFFIX if self is Own.ATTEMPTS else ".json"


@dataclass(frozen=True, slots=True)
class Exercise:
    """Fresh training problems, all levels alike, with a prompt without ideas for each."""

    problems: tuple[Problem, ...]
    asked: tuple[str, ...]


def draw_exercise(prompts: PromptSet, rules: Rules, num_problems: int, seed: int) -> Exercise:
    """So many problems, and prompts with or without tags in their wording."""
    rng = Random(derive_seed(seed, "own problems"))
    problems = [
        draw_problem(rng, 1 + i % len(LEVELS), Split.TRAIN, rules, TRAIN_WORLDS) for i in range(num_problems)
    ]
    asked = [rng.choice((prompts.tagged, prompts.untagged)).solve(as_question(p), ()).raw for p in problems]
    return Exercise(tuple(problems), tuple(asked))


def collect(own: Own, sampler: Sampler, exercise: Exercise, seed: int) -> OwnMistakes | OwnAttempts:
    """POOL_SIZE samples of each problem with the sampler; for attempts, as many again at temperature 1."""
    texts = sampler.sample(exercise.asked, POOL_SIZE, seed=derive_seed(seed, "own samples"))
    if own is Own.MISTAKES:
        return OwnMistakes.of(zip(exercise.problems, map(read_workings, texts), strict=True))
    plain = replace(sampler, temperature=1.0, top_p=1.0)
    samples = plain.sample(exercise.asked, POOL_SIZE, seed=derive_seed(seed, "own policy"))
    return OwnAttempts.of(exercise.problems, texts, samples)
