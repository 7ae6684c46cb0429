"""Random completions against the grader: `python experiments/grading/fuzz.py --num-inputs 100000`.

Each input is extracted, brought to normal form, judged against the one before and against itself; now and
then six are tallied twice in different orders. Prints what was slow, what exceeded a limit, and the memory.
"""

import argparse
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path

from icpo.grading import Grader, GradingRules
from icpo.types import AnswerKind

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.grading import grammar

_TALLY_EVERY = 50


def main() -> None:
    """Runs the inputs; an exception or a broken property ends the run with its input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    rules: Counter[str] = Counter()
    slowest: list[tuple[float, str, str]] = []
    memory_mb: list[float] = []
    start = time.perf_counter()
    with Grader(GradingRules(), max_workers=1) as grader:
        before: list[str] = ["1"]
        for i in range(options.num_inputs):
            kind = rng.choice(list(AnswerKind))
            text = grammar.completion(rng)
            began = time.perf_counter()
            answer = grader.extract(text, kind)
            rules["abstained" if answer is None else _check(grader, answer, before[-1], kind)] += 1
            slowest = sorted([*slowest, (time.perf_counter() - began, text, before[-1])], reverse=True)[:5]
            before = [*before[-5:], answer or ""]
            if i % _TALLY_EVERY == 0:
                _check_partition(grader, before, rng)
            if i % (options.num_inputs // 10) == 0:
                memory_mb.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        seconds = time.perf_counter() - start
        print(f"inputs {options.num_inputs}, seed {options.seed}, {seconds:.0f} s, no exception")
        print(f"asked math-verify {grader.num_asked}, exceeded a limit {grader.num_timed_out}")
        print("largest resident size (MiB) at each tenth:", *(f"{size:.0f}" for size in memory_mb))
        print("rules:", ", ".join(f"{rule} {count}" for rule, count in rules.most_common()))
        for duration, text, other in slowest:
            print(f"slow: {duration:.2f} s  {text[:90]!r}  {other[:90]!r}")


def _check(grader: Grader, answer: str, other: str, kind: AnswerKind) -> str:
    grader.normal_form(answer, kind)
    assert grader.judge(answer, answer, kind).correct, f"not equal to itself: {answer!r}"
    verdict = grader.judge(answer, other, kind)
    assert verdict == grader.judge(other, answer, kind) or not other.strip(), (
        f"not symmetric: {answer!r} {other!r}"
    )
    return verdict.rule


def _check_partition(grader: Grader, answers: list[str], rng: random.Random) -> None:
    votes = grader.tally(answers, AnswerKind.EXPRESSION)
    order = rng.sample(range(len(answers)), len(answers))
    again = grader.tally([answers[i] for i in order], AnswerKind.EXPRESSION)
    assert votes.counts == again.counts, f"the order decides: {answers!r}"
    assert [votes.labels[i] for i in order] == list(again.labels), f"the order decides: {answers!r}"


if __name__ == "__main__":
    main()
