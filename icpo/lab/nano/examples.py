"""Training examples: a prompt of the protocol and the completion that is to be learned for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from random import Random

from icpo.benchmarks.arithmetic import LEVELS, Problem, Rules, Split, draw_problem
from icpo.benchmarks.arithmetic.stories import TRAIN_WORLDS
from icpo.lab.nano.histories import RANDOM_TAG_SHARE, Idea, draw_history, random_tags
from icpo.lab.nano.mistakes import Mistakes, SimulatedSolver
from icpo.lab.nano.policy import Policy
from icpo.lab.nano.solutions import Solution, right_solution
from icpo.types import AnswerKind, Prompt, PromptBook, Question

MAX_IDEAS = 5
NUM_IDEAS_WEIGHTS = (3, 2, 2, 2, 3)
PARTIAL_SHARE = 0.15  # of the contexts with tags show a part of each idea


class Task(str, Enum):
    """What an example trains."""

    DIRECT = "direct"
    TAGGED = "tagged"
    UNTAGGED = "untagged"
    FORCED = "forced"
    SUMMARY = "summary"
    JUDGE = "judge"


class Tags(str, Enum):
    """Where the tags of the ideas come from: a majority vote, or a coin that knows nothing."""

    MAJORITY = "majority"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The prompts trained on: the protocol's, with and without tags, and whether an answer is right.

    `partial` are like `tagged`, but show a part of each idea; `forced` asks for the answer alone.
    """

    tagged: PromptBook
    untagged: PromptBook
    partial: tuple[PromptBook, ...]
    forced: PromptBook
    judge: Callable[[Question, str], Prompt]


@dataclass(frozen=True, slots=True)
class Mixture:
    """How often each task occurs (weights need not sum to one), where tags come from, and who answers.

    In `coin_share` of the contexts with tags a fair coin tags each idea, and the target follows these tags.
    """

    tasks: Mapping[Task, float]
    tags: Tags
    policy: Policy
    coin_share: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", {Task(task): weight for task, weight in self.tasks.items()})
        object.__setattr__(self, "tags", Tags(self.tags))
        if min(self.tasks.values(), default=0) < 0 or not sum(self.tasks.values()):
            raise ValueError(f"task weights must not be negative and not all zero, got {self.tasks}")
        if not 0 <= self.coin_share <= 1:
            raise ValueError(f"coin_share must be in [0, 1], got {self.coin_share}")

    def draw(self, rng: Random) -> Task:
        """One task."""
        return rng.choices(list(self.tasks), list(self.tasks.values()))[0]


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt as the model reads it, and what it should write."""

    task: Task
    prompt: str
    completion: str


@dataclass(frozen=True, slots=True)
class Source:
    """One training problem and a way to draw attempts at it."""

    problem: Problem
    draw_attempt: Callable[[], Solution]


def draw_source(rng: Random, rules: Rules, mistakes: Mistakes) -> Source:
    """A fresh training problem with a simulated solver; all levels are equally frequent."""
    problem = draw_problem(rng, rng.randint(1, len(LEVELS)), Split.TRAIN, rules, TRAIN_WORLDS)
    return Source(problem, SimulatedSolver(problem.chain, rng, mistakes).attempt)


def as_question(problem: Problem) -> Question:
    """The problem as a question."""
    return Question(problem.problem_id, problem.text, AnswerKind.NUMBER)


def draw_example(rng: Random, source: Source, mixture: Mixture, prompts: PromptSet) -> Example:
    """One example about the source's problem.

    Without ideas, or with untagged ones, the target is an attempt of the mixture's policy; with tagged ideas,
    an attempt of that policy after their updates: with the majority's tags, or in `coin_share` of these
    contexts with a coin's. Random tags (`Tags.RANDOM`) are shown in place of those that the target follows.
    """
    question, chain, policy = as_question(source.problem), source.problem.chain, mixture.policy
    task = mixture.draw(rng)
    match task:
        case Task.DIRECT:
            prompt, completion = _direct(rng, question, prompts), policy.attempt(chain, rng).text
        case Task.TAGGED | Task.FORCED:
            history = draw_history(source.draw_attempt, _num_ideas(rng), policy.update, rng)
            if mixture.coin_share and rng.random() < mixture.coin_share:
                history = random_tags(history, 0.5, rng)
            solution = policy.attempt_after(chain, history, rng)
            shown = random_tags(history, RANDOM_TAG_SHARE, rng) if mixture.tags is Tags.RANDOM else history
            attempts = tuple(idea.attempt for idea in shown)
            if task is Task.FORCED:
                prompt, completion = prompts.forced.look_ahead(question, attempts), f"{solution.answer}}}"
            else:
                is_partial = rng.random() < PARTIAL_SHARE
                book = rng.choice(prompts.partial) if is_partial else prompts.tagged
                prompt, completion = book.solve(question, attempts), solution.text
        case Task.UNTAGGED:
            prompt, completion = _untagged(rng, question, source, prompts), policy.attempt(chain, rng).text
        case Task.SUMMARY:
            solution = source.draw_attempt()
            prompt, completion = prompts.tagged.summary(question, solution.text), solution.summary
        case Task.JUDGE:
            right = right_solution(chain)
            solution = right if rng.random() < 0.3 else source.draw_attempt()
            prompt = prompts.judge(question, solution.text)
            completion = "yes" if solution.answer == right.answer else "no"
    return Example(task, prompt.raw, completion)


def _direct(rng: Random, question: Question, prompts: PromptSet) -> Prompt:
    book = rng.choice((prompts.tagged, prompts.untagged))
    return book.plain(question) if rng.random() < 0.5 else book.solve(question, ())


def _num_ideas(rng: Random) -> int:
    return rng.choices(range(1, MAX_IDEAS + 1), NUM_IDEAS_WEIGHTS)[0]


def _untagged(rng: Random, question: Question, source: Source, prompts: PromptSet) -> Prompt:
    attempts = tuple(Idea(source.draw_attempt(), None).attempt for _ in range(_num_ideas(rng)))
    return rng.choice((prompts.tagged, prompts.untagged)).solve(question, attempts)
