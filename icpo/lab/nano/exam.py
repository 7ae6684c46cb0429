"""What nano can do on the development split without ideas, and how well it summarises and judges."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import mean

from icpo.benchmarks.arithmetic import LEVELS, Problem, Step, questions
from icpo.lab.nano.examples import PromptSet, as_question
from icpo.lab.nano.mistakes import AssumedMistakes, SimulatedSolver, careful_result, step_class
from icpo.lab.nano.sampling import Sampler
from icpo.lab.nano.solutions import read_answer, read_solution, right_solution
from icpo.seeding import derive_seed
from icpo.types import History, Votes

NUM_SAMPLES = 16


Answers = list[list[str | None]]  # a row per problem, an answer per sample


def read_answers(texts: Sequence[Sequence[str]]) -> Answers:
    """What the samples of each problem answer; None is an abstention."""
    return [[read_answer(text) for text in row] for row in texts]


def answers_after(
    sampler: Sampler,
    prompts: PromptSet,
    problems: Sequence[Problem],
    histories: Sequence[History],
    num_samples: int,
    seed: int,
) -> Answers:
    """Answers of each problem with its history in the prompt, tags shown."""
    asked = [prompts.tagged.solve(as_question(p), h).raw for p, h in zip(problems, histories, strict=True)]
    return read_answers(sampler.sample(asked, num_samples, seed=seed))


def share_right(problems: Sequence[Problem], answers: Answers) -> float:
    """Mean over all samples of all problems."""
    return mean(a == p.answer for p, row in zip(problems, answers, strict=True) for a in row)


def votes_of(answers: Sequence[str | None]) -> Votes:
    """Votes for whole numbers, whose text is their class; of equally many the first given comes first."""
    counts = Counter(a for a in answers if a is not None)
    return Votes(tuple(counts.most_common()), len(answers) - counts.total(), tuple(answers))


def majority_score(problems: Sequence[Problem], answers: Answers) -> float:
    """Mean probability that the majority answer is right, ties broken uniformly; 0 where nobody answered."""
    winners = [votes_of(row).winners for row in answers]
    return mean(w.count(p.answer) / max(len(w), 1) for p, w in zip(problems, winners, strict=True))


def direct_exam(sampler: Sampler, prompts: PromptSet, num_questions: int, seed: int) -> dict[str, float]:
    """Mean@16 and Maj@16 by level of the plain prompt, and Mean@16 of the prompt with an empty history.

    Also `step/NAME`: the share of written lines whose result is right, by operation.
    """
    scores: dict[str, float] = {}
    lines: dict[str, list[bool]] = {}
    for level in LEVELS:
        problems = questions("dev", level, num_questions)
        plain = [prompts.tagged.plain(as_question(p)).raw for p in problems]
        texts = sampler.sample(plain, NUM_SAMPLES, seed=derive_seed(seed, level))
        answers = read_answers(texts)
        scores[f"direct/{level}/mean"] = share_right(problems, answers)
        scores[f"direct/{level}/majority"] = majority_score(problems, answers)
        scope = derive_seed(seed, level, "empty")
        empty = answers_after(sampler, prompts, problems, [()] * len(problems), NUM_SAMPLES, scope)
        scores[f"direct/{level}/empty_history"] = share_right(problems, empty)
        _collect_lines(texts, lines)
    return scores | {f"step/{name}": mean(rights) for name, rights in sorted(lines.items())}


def reading_exam(sampler: Sampler, prompts: PromptSet, num_questions: int, seed: int) -> dict[str, float]:
    """Share of greedy summaries that are exactly the candidate's own, and of right judgements."""
    rng = Random(derive_seed(seed, "reading"))
    greedy = replace(sampler, temperature=0.0)
    solutions, judged = [], []
    for level in LEVELS:
        for problem in questions("dev", level, num_questions):
            right = right_solution(problem.chain)
            attempt = SimulatedSolver(problem.chain, rng, AssumedMistakes()).attempt()
            solutions.append((problem, attempt))
            judged.append((problem, right if rng.random() < 0.5 else attempt, right.answer))
    summaries = greedy.sample(
        [prompts.tagged.summary(as_question(p), w.text).raw for p, w in solutions], 1, seed=seed
    )
    verdicts = greedy.sample([prompts.judge(as_question(p), w.text).raw for p, w, _ in judged], 1, seed=seed)
    return {
        "summary/faithful": mean(
            text == w.summary for [text], (_, w) in zip(summaries, solutions, strict=True)
        ),
        "judge/right": mean(
            text == ("yes" if w.answer == answer else "no")
            for [text], (_, w, answer) in zip(verdicts, judged, strict=True)
        ),
    }


def _collect_lines(texts: Sequence[Sequence[str]], lines: dict[str, list[bool]]) -> None:
    for text in (t for row in texts for t in row):
        solution = read_solution(text)
        for line in solution.lines if solution else ():
            step = Step(line.operation, line.operand)
            if step.operand:
                lines.setdefault(step_class(step), []).append(line.after == careful_result(line.before, step))
