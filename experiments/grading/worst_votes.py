"""Votes made to be slow, with their time: `python experiments/grading/worst_votes.py`."""

import time

from icpo.grading import Grader, GradingRules
from icpo.types import AnswerKind

_VOTES = {
    "1024 numbers": [str(n) for n in range(1024)],
    "1024 roots of sums": [rf"\sqrt{{{n}+x}}" for n in range(1024)],
    "272 piecewise functions": [
        rf"\begin{{cases}} {n}x & x \ge 0 \\ -x & x < 0 \end{{cases}}" for n in range(2, 274)
    ],
    "10 integrals": [rf"\int_0^{{{n}}} \frac{{x^{n}+1}}{{\sqrt{{x^{n + 1}+{n}}}}} dx" for n in range(1, 11)],
    "60 sums": [rf"\sum_{{k=1}}^{{n}} k^{{{n}}}" for n in range(1, 61)],
}


def main() -> None:
    """Prints for each vote what was asked and skipped, and its time on the clock and on this processor."""
    for name, answers in _VOTES.items():
        with Grader(GradingRules()) as grader:
            start, spent = time.perf_counter(), time.process_time()
            votes = grader.tally(answers, AnswerKind.EXPRESSION)
            print(
                f"{name:24} classes {len(votes.counts):5}, asked {grader.num_asked:3}, exceeded a limit "
                f"{grader.num_timed_out:2}, skipped {votes.num_skipped:5}, "
                f"{time.perf_counter() - start:6.1f} s, here {time.process_time() - spent:5.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
