"""Time of the grading of one ME-ICPO round: `python experiments/grading/round_speed.py FOLDER`.

A round of k = m = 16 gives 272 completions, each with a MATH-500 answer: 16 candidates, 16 x 16 look-aheads.
Timed, in processor time, are extraction, votes, rewards and look-ahead entropies, with a new grader for each
question. The same is timed for math-verify called on all pairs within each vote, and, with
`--baseline CHECKOUT`, for the grading of another checkout of this project on the same rounds.
"""

import argparse
import importlib.util
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import perturbations

from icpo.grading import Grader, GradingRules
from icpo.types import AnswerKind, Lookahead

_NUM_CANDIDATES = 16
_NUM_LOOKAHEADS = 16
_NUM_REASONING_CHARACTERS = 2000
_KIND = AnswerKind.EXPRESSION
Round = tuple[list[str], list[list[str]]]


def main() -> None:
    """Prints medians and 90th percentiles over the questions, and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of benchmark files, as the README lists them")
    parser.add_argument(
        "--num-pairwise", type=int, default=5, help="questions that math-verify does pairwise"
    )
    parser.add_argument(
        "--numeric", action="store_true", help="only questions whose answers are plain numbers"
    )
    parser.add_argument("--baseline", type=Path, help="a checkout of this project to compare with")
    options = parser.parse_args()
    rounds = _rounds(options.folder, numeric=options.numeric)
    num_answers = len(rounds[0][0]) + sum(map(len, rounds[0][1]))
    print(f"questions {len(rounds)}, answers a round {num_answers}")
    seconds = _show("icpo.grading", [_time_grading(texts) for texts in rounds])
    if options.baseline:
        print(f"baseline / icpo.grading {_baseline_seconds(options.baseline) / seconds:.2f}")
    if options.num_pairwise:
        some = rounds[:: len(rounds) // options.num_pairwise]
        pairwise = _show("math-verify", [_time(_pairwise, *texts) for texts in some])
        print(f"math-verify / icpo.grading {pairwise / seconds:.0f}")


def _rounds(folder: Path, *, numeric: bool) -> list[Round]:
    questions = [json.loads(line) for line in (folder / "math500.jsonl").read_text().strip().split("\n")]
    golds = [q["answer"] for q in questions if not numeric or re.fullmatch(r"-?\d+", q["answer"])]
    return [
        _texts_of_round(question["answer"], golds, _reasoning(question["problem"]), random.Random(i))
        for i, question in enumerate(questions)
        if question["answer"] in golds
    ]


def _show(name: str, seconds: list[float]) -> float:
    """Prints and returns the median."""
    median, last = statistics.median(seconds), statistics.quantiles(seconds, n=10)[-1]
    print(f"{name:14} median {1000 * median:8.1f} ms, 90th percentile {1000 * last:8.1f} ms")
    return median


def _baseline_seconds(checkout: Path) -> float:
    """The median of another checkout's grading on the same arguments, from a process of its own."""
    arguments = [a for a in sys.argv[1:] if not a.startswith("--baseline") and a != str(checkout)]
    done = subprocess.run(
        [sys.executable, __file__, *arguments, "--num-pairwise", "0"],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=True,
    )
    print(done.stdout.split("\n")[1].replace("icpo.grading", "baseline    "))
    return float(done.stdout.split("median")[1].split()[0]) / 1000


def _texts_of_round(gold: str, golds: Sequence[str], reasoning: str, rng: random.Random) -> Round:
    """Completions of candidates and look-aheads: half right in several spellings, half wrong."""
    varied = [case for perturb in perturbations.ALL for case in perturb(gold)]
    right = [text for text, is_equal in varied if is_equal]
    wrong = rng.sample([text for text, is_equal in varied if not is_equal] + rng.sample(golds, 4), 4)

    def sample() -> str:
        answer = rng.choice(right) if rng.random() < 0.5 else rng.choice(wrong)
        abstains = rng.random() < 0.03
        end = "I cannot finish this." if abstains else rf"Thus, the answer is \boxed{{{answer}}}."
        return reasoning + end

    lookaheads = [[sample() for _ in range(_NUM_LOOKAHEADS)] for _ in range(_NUM_CANDIDATES)]
    return [sample() for _ in range(_NUM_CANDIDATES)], lookaheads


def _reasoning(problem: str) -> str:
    """LaTeX prose of the length of a completion."""
    return (problem + "\n") * (_NUM_REASONING_CHARACTERS // len(problem) + 1)


def _time_grading(texts: Round) -> float:
    """Seconds for a round with nothing remembered of the round before; older checkouts lack `maths`."""
    name = "icpo.grading.maths" if importlib.util.find_spec("icpo.grading.maths") else "icpo.grading"
    importlib.import_module(f"{name}.reading").read.cache_clear()
    with Grader(GradingRules()) as grader:
        return _time(_grade, *texts, grader)


def _time(work: Callable[..., None], *arguments: object) -> float:
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def _grade(candidates: list[str], lookaheads: list[list[str]], grader: Grader) -> None:
    votes = grader.tally([grader.extract(text, _KIND) for text in candidates], _KIND)
    rewards = [int(label in votes.winners) for label in votes.labels]
    entropies = [
        Lookahead(i, grader.tally([grader.extract(text, _KIND) for text in texts], _KIND)).entropy_bits
        for i, texts in enumerate(lookaheads)
    ]
    assert len(rewards) == len(entropies) == _NUM_CANDIDATES


def _pairwise(candidates: list[str], lookaheads: list[list[str]]) -> None:
    from math_verify import parse, verify

    for texts in (candidates, *lookaheads):
        parsed = [parse(text) for text in texts]
        for i, one in enumerate(parsed):
            for other in parsed[:i]:
                verify(one, other)


if __name__ == "__main__":
    main()
