"""The acceptance test: how nano's accuracy moves with the ideas it is shown, on the development split.

It is computed before any run of ME-ICPO and is how training is judged: a model that uses its context is well
above its accuracy without ideas when right ideas are tagged 1, not below it when wrong ideas are tagged 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random

from icpo.benchmarks.arithmetic import LEVELS, Problem, questions
from icpo.lab.nano.exam import answers_after, read_answers, share_right
from icpo.lab.nano.examples import MAX_IDEAS, PromptSet, as_question
from icpo.lab.nano.histories import Idea, Update, draw_history
from icpo.lab.nano.mistakes import AssumedMistakes, SimulatedSolver
from icpo.lab.nano.sampling import Sampler
from icpo.lab.nano.solutions import Solution, read_solution, right_solution
from icpo.seeding import derive_seed

NUM_POOL_SAMPLES = 16
NUM_SAMPLES = 4


class Context(str, Enum):
    """What the history holds."""

    RIGHT_TAGGED_1 = "right_1"
    WRONG_TAGGED_0 = "wrong_0"
    WRONG_TAGGED_1 = "wrong_1"
    RIGHT_TAGGED_0 = "right_0"
    MIXTURE = "mixture"


@dataclass(frozen=True, slots=True)
class Material:
    """A development problem with the model's own samples, and wrong solutions (simulated if it made none)."""

    problem: Problem
    pool: tuple[Solution, ...]
    wrong: tuple[Solution, ...]

    def history(self, context: Context, num_ideas: int, update: Update, rng: Random) -> tuple[Idea, ...]:
        """A history of one kind; wrong ideas tagged 0 differ as far as there are enough, others are one.

        `update` is that of the policy which draws the later pools of a mixture.
        """
        if context is Context.MIXTURE:
            return draw_history(lambda: rng.choice(self.pool), num_ideas, update, rng)
        tag = int(context in (Context.RIGHT_TAGGED_1, Context.WRONG_TAGGED_1))
        if context in (Context.RIGHT_TAGGED_1, Context.RIGHT_TAGGED_0):
            return (Idea(right_solution(self.problem.chain), tag),) * num_ideas
        if context is Context.WRONG_TAGGED_1:
            return (Idea(rng.choice(self.wrong), tag),) * num_ideas
        wrong = list(dict.fromkeys(self.wrong))
        rng.shuffle(wrong)
        return tuple(Idea(wrong[i % len(wrong)], tag) for i in range(num_ideas))


def acceptance_scores(
    sampler: Sampler, prompts: PromptSet, num_questions: int, update: Update, seed: int
) -> dict[str, float]:
    """Mean accuracy over all levels: `gate/none`, and by context and number of ideas (`gate/right_1/3`)."""
    problems = [p for level in LEVELS for p in questions("dev", level, num_questions)]
    empty = [prompts.tagged.solve(as_question(p), ()).raw for p in problems]
    texts = sampler.sample(empty, NUM_POOL_SAMPLES, seed=derive_seed(seed, "pool"))
    materials = [_material(p, row, seed) for p, row in zip(problems, texts, strict=True)]
    scores = {"gate/none": share_right(problems, read_answers(texts))}
    for context in Context:
        for num_ideas in range(1, MAX_IDEAS + 1):
            name = f"{context.value}/{num_ideas}"
            rng = Random(derive_seed(seed, context.value, num_ideas))
            ideas = [m.history(context, num_ideas, update, rng) for m in materials]
            histories = [tuple(idea.attempt for idea in row) for row in ideas]
            scope = derive_seed(seed, context.value, num_ideas, "answers")
            answers = answers_after(sampler, prompts, problems, histories, NUM_SAMPLES, scope)
            scores[f"gate/{name}"] = share_right(problems, answers)
    return scores


def _material(problem: Problem, texts: Sequence[str], seed: int) -> Material:
    rng = Random(derive_seed(seed, "material", problem.problem_id))
    pool = tuple(w for w in map(read_solution, texts) if w)
    answer = int(problem.answer)
    wrong = tuple(w for w in pool if w.answer != answer)
    solver = SimulatedSolver(problem.chain, rng, AssumedMistakes())
    while not wrong:
        wrong = tuple(w for w in (solver.attempt() for _ in range(NUM_POOL_SAMPLES)) if w.answer != answer)
        solver = SimulatedSolver(problem.chain, rng, AssumedMistakes())
    return Material(problem, pool or (right_solution(problem.chain),), wrong)
