"""How much of the test split nano may have computed in training, as parts of longer chains.

python experiments/nano/overlap.py [--problems 1000000]

A whole chain of the test split never occurs in training. Its computations may: a training chain of four
steps contains four one-step and three two-step computations. Problems are sampled as training samples them.
"""

import argparse
from collections.abc import Iterator
from random import Random

from icpo.benchmarks.arithmetic import LEVELS, RULES, Split, draw_problem, questions
from icpo.benchmarks.arithmetic.problem import Chain
from icpo.benchmarks.arithmetic.stories import TRAIN_WORLDS

LENGTHS = (1, 2)


def computations(chain: Chain, length: int) -> Iterator[str]:
    """The computations of `length` consecutive steps inside a chain, written like a chain of their own."""
    values = (chain.start, *chain.values)
    for i in range(len(chain.steps) - length + 1):
        yield Chain(values[i], chain.steps[i : i + length]).canonical


def main() -> None:
    """Print, for tests of one and two steps, how many occur inside training chains."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=1_000_000, help="training problems (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    tests = {n: {p.chain.canonical for p in questions("test", f"l{n}")} for n in LENGTHS}
    seen: dict[int, set[str]] = {n: set() for n in LENGTHS}
    rng = Random(args.seed)
    for _ in range(args.problems):
        chain = draw_problem(rng, rng.randint(1, len(LEVELS)), Split.TRAIN, RULES, TRAIN_WORLDS).chain
        for n in LENGTHS:
            seen[n].update(part for part in computations(chain, n) if part in tests[n])
    for n in LENGTHS:
        print(
            f"{len(seen[n])} of {len(tests[n])} {n}-step test chains inside {args.problems:,} training chains"
        )


if __name__ == "__main__":
    main()
