"""What nano can do on the development split without ideas, and how well it summarises and judges."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from statistics import mean

from icpo.arithmetic import LEVELS, Problem, Step, questions
from icpo.nano.examples import PromptSet, as_question
from icpo.nano.mistakes import AssumedMistakes, SimulatedSolver, careful_result, step_class
from icpo.nano.sampling import Sampler
from icpo.nano.workings import read_answer, read_working, right_working
from icpo.seeding import derive_seed

NUM_SAMPLES = 16


def majority_score(answers: Sequence[str | None], gold: str) -> float:
    """Probability that the majority answer is right, ties broken uniformly; 0.0 when nobody answered."""
    counts = Counter(a for a in answers if a is not None)
    top = max(counts.values(), default=0)
    winners = [a for a, n in counts.items() if n == top]
    return winners.count(gold) / len(winners) if winners else 0.0


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
        scores[f"direct/{level}/mean"] = _mean_accuracy(problems, texts)
        answers = [[read_answer(t) for t in row] for row in texts]
        scores[f"direct/{level}/majority"] = mean(
            majority_score(row, p.answer) for row, p in zip(answers, problems, strict=True)
        )
        empty = [prompts.tagged.solve(as_question(p), ()).raw for p in problems]
        texts_empty = sampler.sample(empty, NUM_SAMPLES, seed=derive_seed(seed, level, "empty"))
        scores[f"direct/{level}/empty_history"] = _mean_accuracy(problems, texts_empty)
        _collect_lines(texts, lines)
    return scores | {f"step/{name}": mean(rights) for name, rights in sorted(lines.items())}


def reading_exam(sampler: Sampler, prompts: PromptSet, num_questions: int, seed: int) -> dict[str, float]:
    """Share of greedy summaries that are exactly the candidate's own, and of right judgements."""
    rng = Random(derive_seed(seed, "reading"))
    greedy = replace(sampler, temperature=0.0)
    workings, judged = [], []
    for level in LEVELS:
        for problem in questions("dev", level, num_questions):
            right = right_working(problem.chain)
            attempt = SimulatedSolver(problem.chain, rng, AssumedMistakes()).attempt()
            workings.append((problem, attempt))
            judged.append((problem, right if rng.random() < 0.5 else attempt, right.answer))
    summaries = greedy.sample(
        [prompts.tagged.summary(as_question(p), w.text).raw for p, w in workings], 1, seed=seed
    )
    verdicts = greedy.sample([prompts.judge(as_question(p), w.text).raw for p, w, _ in judged], 1, seed=seed)
    return {
        "summary/faithful": mean(
            text == w.summary for [text], (_, w) in zip(summaries, workings, strict=True)
        ),
        "judge/right": mean(
            text == ("yes" if w.answer == answer else "no")
            for [text], (_, w, answer) in zip(verdicts, judged, strict=True)
        ),
    }


def _mean_accuracy(problems: Sequence[Problem], texts: Sequence[Sequence[str]]) -> float:
    return mean(read_answer(t) == p.answer for p, row in zip(problems, texts, strict=True) for t in row)


def _collect_lines(texts: Sequence[Sequence[str]], lines: dict[str, list[bool]]) -> None:
    for text in (t for row in texts for t in row):
        working = read_working(text)
        for line in working.lines if working else ():
            step = Step(line.operation, line.operand)
            if step.operand:
                lines.setdefault(step_class(step), []).append(line.after == careful_result(line.before, step))


def by_level(scores: Mapping[str, float], kind: str) -> list[float]:
    """One kind of direct score (mean, majority, empty_history) from l1 to l5."""
    return [scores[f"direct/{level}/{kind}"] for level in LEVELS]
