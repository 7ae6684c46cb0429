"""Rounds to run races on: attempts with the shares of their answers, stored or invented.

Shapes: A attempts, C answer classes of which the last is silence, M look-aheads.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icpo.records import read_manifest, read_results, run_cells
from icpo.types import Attempt, Candidate, Completion, FinishReason

BUDGET = 16  # the paper's m: what a racing rule may draw of an attempt, and the price of silence
Idea = tuple[str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class Race:
    """One round: its attempts and the shares of their answers."""

    name: str
    attempts: tuple[Attempt, ...]
    shares_AC: NDArray[np.float64]

    def bits_A(self) -> NDArray[np.float64]:
        """What each attempt would be ranked by if its answers were known: entropy and price of silence."""
        return np.array([true_bits(shares_C) for shares_C in self.shares_AC])


def stored_races(run: Path) -> list[Race]:
    """The rounds of two attempts or more of a run's cells whose look-aheads are whole solutions."""
    races = []
    for cell in run_cells(run.parent, run.name):
        config = (read_manifest(cell) or {}).get("config", {})
        if config["protocol"]["lookahead"]["forced_answer"] is not None:
            continue
        for row in read_results(cell):
            for t, round_ in enumerate(row["trace"]):
                if len(round_["lookaheads"]) > 1:
                    races.append(_race(f"{row['question_id']}/{row['seed']}/{t}", round_))
    return races


def _race(name: str, round_: Mapping[str, Any]) -> Race:
    """A stored round; look-aheads of identical ideas, which have one prompt, are taken together."""
    answers = [round_["candidates"][i]["answer"] for i in round_["eligible"]]
    attempts = tuple(
        _attempt(answer, stored["reward"], stored["summary"])
        for answer, stored in zip(answers, round_["attempts"], strict=True)
    )
    counts: dict[Idea, Counter[str]] = defaultdict(Counter)
    silent: Counter[Idea] = Counter()
    for x in round_["lookaheads"]:
        idea = idea_of(attempts[x["attempt"]])
        counts[idea].update(dict(x["votes"]["counts"]))
        silent[idea] += x["votes"]["num_abstained"]
    width = max(map(len, counts.values()))
    rows = {idea: [*own.values(), *[0] * (width - len(own)), silent[idea]] for idea, own in counts.items()}
    table = np.array([rows[idea_of(attempt)] for attempt in attempts], dtype=float)
    return Race(name, attempts, table / table.sum(axis=1, keepdims=True))


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
        races.append(Race(f"made-up-{i}", tuple(_attempt(str(a), 1, f"{a}") for a in range(16)), shares_AC))
    return races


def _attempt(answer: str | None, reward: int | None, summary: str) -> Attempt:
    return Attempt(Candidate(Completion("", 0, 0, FinishReason.STOP), answer), reward, summary)


def draw_answers(
    shares_AC: NDArray[np.float64], num_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Indices of answer classes by inverse transform, shape (A, M)."""
    uniform_AM = rng.random((len(shares_AC), num_draws))
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
        f"{len(races)} rounds, {num_attempts} attempts ({num_ideas} different ideas), {repetitions} "
        f"repetitions; entropies within a round differ by {spread.mean():.3f} bits on average, in "
        f"{int((spread < 1e-9).sum())} rounds not at all."
    )
