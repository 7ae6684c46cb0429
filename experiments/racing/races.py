"""Rounds to run races on: attempts with the shares of their answers, stored or invented.

Shapes: A attempts, C answer classes of which the last is silence, M look-aheads.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icpo.evaluation.stored_rules import stored_rules
from icpo.grading import Grader
from icpo.store import load_results, load_scores, read_manifest, run_cells
from icpo.types import Attempt, Candidate, Completion, FinishReason, Round

BUDGET = 16  # the paper's m: what a racing rule may sample of an attempt, and the price of silence
Idea = tuple[str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class Race:
    """One round of a question: its attempts, the shares of their answers and of those that are right.

    A look-ahead is sampled as a final would be if its attempt was kept and rounds ended here. So `accuracy_A`
    is what Mean@k is then expected to be; it is not a number where nothing is known to be right.
    """

    question: str
    seed: int
    round: int
    attempts: tuple[Attempt, ...]
    shares_AC: NDArray[np.float64]
    accuracy_A: NDArray[np.float64]

    def bits_A(self) -> NDArray[np.float64]:
        """What each attempt would be ranked by if its answers were known: entropy and price of silence."""
        return np.array([true_bits(shares_C) for shares_C in self.shares_AC])


def stored_races(run: Path) -> list[Race]:
    """The rounds of two attempts or more of a run's cells whose look-aheads are whole solutions."""
    cells = run_cells(run.parent, run.name)
    return [race for cell in cells if not has_forced_answers(cell) for race in races_of(cell)]


def has_forced_answers(cell: Path) -> bool:
    """Whether a cell's look-aheads are answers alone."""
    return _protocol(cell)["lookahead"]["forced_answer"] is not None


def races_of(cell: Path) -> Iterator[Race]:
    """The rounds of two attempts or more of a cell whose selector samples for every attempt."""
    golds = {score.key: score.gold for score in load_scores(cell)}
    with Grader(stored_rules(cell)) as grader:
        for result in load_results(cell):
            gold, kind = golds[result.key], result.question.kind
            for number, round_ in enumerate(result.rounds):
                if len(round_.lookaheads) > 1:
                    answers = {a for x in round_.lookaheads for a, _ in x.votes.counts}
                    right = {a for a in answers if grader.judge(a, gold, kind).correct}
                    yield race_of((*result.key, number), round_, right)


def _protocol(cell: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (read_manifest(cell) or {})["config"]["protocol"]
    return found


def race_of(key: tuple[str, int, int], round_: Round, right: Collection[str]) -> Race:
    """A stored round, given which answers are right.

    Look-aheads of identical ideas, which have one prompt, are taken together.
    """
    attempts = round_.attempts
    counts: dict[Idea, Counter[str]] = defaultdict(Counter)
    silent: Counter[Idea] = Counter()
    for x in round_.lookaheads:
        idea = idea_of(attempts[x.attempt])
        counts[idea].update(dict(x.votes.counts))
        silent[idea] += x.votes.num_abstained
    width = max(map(len, counts.values()))
    rows = {idea: [*own.values(), *[0] * (width - len(own)), silent[idea]] for idea, own in counts.items()}
    num_right = {idea: sum(own[answer] for answer in right) for idea, own in counts.items()}
    ideas = [idea_of(attempt) for attempt in attempts]
    table_AC = np.array([rows[idea] for idea in ideas], dtype=float)
    total_A = table_AC.sum(axis=1)
    accuracy_A = np.array([num_right[idea] for idea in ideas]) / total_A
    return Race(*key, attempts, table_AC / total_A[:, None], accuracy_A)


def idea_of(attempt: Attempt) -> Idea:
    """All that a prompt shows of an attempt."""
    return attempt.summary, attempt.candidate.answer, attempt.reward


def made_up_races(num_races: int) -> list[Race]:
    """Invented rounds of 16 attempts.

    A question's usual share of the leading answer is uniform in [0.3, 0.97], an attempt's lies a standard
    normal step away in log odds; the rest falls on 8 answers by a Dirichlet law (0.5), silence has 3% on
    average.
    """
    rng = np.random.default_rng(0)
    races = []
    for i in range(num_races):
        centre = rng.uniform(0.3, 0.97)
        odds_A = np.exp(np.log(centre / (1 - centre)) + rng.standard_normal(16))
        leading_A = odds_A / (1 + odds_A)
        silent_A = rng.beta(0.3, 9.7, size=16)
        rest_AC = rng.dirichlet(np.full(8, 0.5), size=16)
        answers_AC = np.column_stack([leading_A, (1 - leading_A)[:, None] * rest_AC])
        shares_AC = np.column_stack([(1 - silent_A)[:, None] * answers_AC, silent_A])
        attempts = tuple(_attempt(str(a), 1, f"{a}") for a in range(16))
        races.append(Race(f"made-up-{i}", 0, 0, attempts, shares_AC, np.full(16, np.nan)))
    return races


def _attempt(answer: str | None, reward: int | None, summary: str) -> Attempt:
    return Attempt(Candidate(Completion("", 0, 0, FinishReason.STOP), answer), reward, summary)


def sample_answers(
    shares_AC: NDArray[np.float64], num_samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Indices of answer classes by inverse transform, shape (A, M)."""
    uniform_AM = rng.random((len(shares_AC), num_samples))
    edges_AC = np.cumsum(shares_AC, axis=1)[:, :-1]
    classes_AM: NDArray[np.int64] = (uniform_AM[:, :, None] >= edges_AC[:, None, :]).sum(axis=2)
    return classes_AM


def true_bits(shares_C: NDArray[np.float64]) -> float:
    """Entropy of the answers plus log2(BUDGET) times the share of silence, in bits (docs/paper_notes.md)."""
    answered = shares_C[:-1][shares_C[:-1] > 0]
    price = float(np.log2(BUDGET))
    if not len(answered):
        return 5 * price
    q = answered / answered.sum()
    return float(-(q * np.log2(q)).sum() + price * shares_C[-1])


def describe(races: Sequence[Race], repetitions: int) -> str:
    """What was simulated on."""
    num_attempts = sum(len(race.attempts) for race in races)
    num_ideas = sum(len(set(map(idea_of, race.attempts))) for race in races)
    spread = np.array([np.ptp(race.bits_A()) for race in races])
    return (
        f"{len(races)} rounds of {len({race.question for race in races})} questions, {num_attempts} "
        f"attempts ({num_ideas} different ideas), {repetitions} "
        f"repetitions; entropies within a round differ by {spread.mean():.3f} bits on average, in "
        f"{int((spread < 1e-9).sum())} rounds not at all."
    )
