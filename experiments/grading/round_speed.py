"""Time of the grading of one ME-ICPO round: `python experiments/grading/round_speed.py FOLDER`.

A round of k = m = 16 gives 272 completions, each with a MATH-500 answer: 16 candidates, 16 x 16 look-aheads.
Timed are extraction, votes, rewards and look-ahead entropies, with a new grader for each question (a round
that needs math-verify also pays for the start of its worker). Beside it stands math-verify called on all
pairs within each vote.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import perturbations

from icpo.grading import Grader, GradingRules
from icpo.grading.maths.reading import read
from icpo.types import AnswerKind, Lookahead

_NUM_CANDIDATES = 16
_NUM_LOOKAHEADS = 16
_NUM_REASONING_CHARACTERS = 2000
_KIND = AnswerKind.EXPRESSION


def main() -> None:
    """Prints the median and the 90th percentile over the questions, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of benchmark files, as the README lists them")
    parser.add_argument(
        "--num-pairwise", type=int, default=5, help="questions that math-verify does pairwise"
    )
    options = parser.parse_args()
    lines = (options.folder / "math500.jsonl").read_text().strip().split("\n")
    questions = [json.loads(line) for line in lines]
    golds = [question["answer"] for question in questions]
    reasoning = [_reasoning(question["problem"]) for question in questions]
    rounds = [_texts_of_round(gold, golds, reasoning[i], random.Random(i)) for i, gold in enumerate(golds)]
    ours, num_asked = [], 0
    for texts in rounds:
        with Grader(GradingRules.paper()) as grader:
            ours.append(_seconds(_grade, grader, texts))
            num_asked += grader.num_asked
    pairwise = [
        _seconds(_pairwise, grader, texts) for texts in rounds[:: len(rounds) // options.num_pairwise]
    ]
    print(f"questions {len(rounds)}, answers a round {len(rounds[0][0]) + sum(map(len, rounds[0][1]))}")
    print(f"icpo.grading   median {1000 * statistics.median(ours):8.1f} ms, "
          f"90th percentile {1000 * statistics.quantiles(ours, n=10)[-1]:8.1f} ms, "
          f"comparisons that left the process {num_asked}")  # fmt: skip
    print(
        f"math-verify    median {1000 * statistics.median(pairwise):8.1f} ms over {len(pairwise)} questions"
    )
    print(f"ratio          {statistics.median(pairwise) / statistics.median(ours):.0f}")


def _texts_of_round(
    gold: str, golds: Sequence[str], reasoning: str, rng: random.Random
) -> tuple[list[str], list[list[str]]]:
    """Completions of candidates and look-aheads: half right in several spellings, half wrong."""
    varied = [case for perturb in perturbations.ALL for case in perturb(gold)]
    right = [text for text, is_equal in varied if is_equal]
    wrong = rng.sample([text for text, is_equal in varied if not is_equal] + rng.sample(golds, 4), 4)

    def draw() -> str:
        answer = rng.choice(right) if rng.random() < 0.5 else rng.choice(wrong)
        abstains = rng.random() < 0.03
        end = "I cannot finish this." if abstains else rf"Thus, the answer is \boxed{{{answer}}}."
        return reasoning + end

    lookaheads = [[draw() for _ in range(_NUM_LOOKAHEADS)] for _ in range(_NUM_CANDIDATES)]
    return [draw() for _ in range(_NUM_CANDIDATES)], lookaheads


def _reasoning(problem: str) -> str:
    """LaTeX prose of the length of a completion."""
    return (problem + "\n") * (_NUM_REASONING_CHARACTERS // len(problem) + 1)


def _seconds(work: Callable[..., None], grader: Grader, texts: tuple[list[str], list[list[str]]]) -> float:
    read.cache_clear()
    start = time.perf_counter()
    work(grader, *texts)
    return time.perf_counter() - start


def _grade(grader: Grader, candidates: list[str], lookaheads: list[list[str]]) -> None:
    votes = grader.tally([grader.extract(text, _KIND) for text in candidates], _KIND)
    rewards = [int(label in votes.winners) for label in votes.labels]
    entropies = [
        Lookahead(i, grader.tally([grader.extract(text, _KIND) for text in texts], _KIND)).entropy_bits
        for i, texts in enumerate(lookaheads)
    ]
    assert len(rewards) == len(entropies) == _NUM_CANDIDATES


def _pairwise(grader: Grader, candidates: list[str], lookaheads: list[list[str]]) -> None:
    from math_verify import parse, verify

    for texts in (candidates, *lookaheads):
        parsed = [parse(text) for text in texts]
        for i, one in enumerate(parsed):
            for other in parsed[:i]:
                verify(one, other)


if __name__ == "__main__":
    main()
