"""One worker process that asks math-verify about pairs of answers.

A line for each, until its input ends. It guards itself: alarms that nothing catches end it when a question
takes too much processor time, or hangs, even if its parent died; the kernel limits its memory. Run as `python
-m icpo.grading.worker SECONDS MEGABYTES`.
"""

import json
import logging
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

READY = "ready"
MAX_SLOWDOWN = 10  # of a busy machine
_MATH_VERIFY_ERRORS = (
    ValueError, TypeError, ArithmeticError, AttributeError, LookupError, RecursionError, NotImplementedError,
    RuntimeError, AssertionError,
)  # fmt: skip
# Places in which decimals agree: by its default of 6, 1/2004! and 1/2006! are equal, both being 0.000000.
_NUM_DIGITS = 12


def main() -> None:
    """Answer questions from standard input within SECONDS and MEGABYTES."""
    seconds, megabytes = float(sys.argv[1]), int(sys.argv[2])
    are_equal = load_math_verify()
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _reply(READY)
    for line in sys.stdin:
        _set_alarms(seconds)
        try:
            left, right = json.loads(line)
            outcome = are_equal(left, right)
        except MemoryError:
            outcome = "memory_limit"
        _set_alarms(0)
        _reply(outcome)


def _set_alarms(seconds: float) -> None:
    """End the process after so many seconds on the processor, or MAX_SLOWDOWN times as many on the clock."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds * MAX_SLOWDOWN)


def load_math_verify() -> Callable[[str, str], str]:
    """A function: "equal", "different" or "unread", by math-verify."""
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import LatexExtractionConfig, parse, verify

    logging.disable(logging.CRITICAL)
    normalization = NormalizationConfig(
        basic_latex=True, units=True, malformed_operators=True, nits=True, boxed="none", equations=False
    )
    extraction = [LatexExtractionConfig(normalization_config=normalization)]

    def read(text: str) -> list[Any]:
        parsed = parse(f"${text}$", extraction, fallback_mode="no_fallback", parsing_timeout=None)
        return [one for one in parsed if not isinstance(one, str)]

    def are_equal(left: str, right: str) -> str:
        try:
            one, other = read(left), read(right)
            if not one or not other:
                return "unread"
            # It is not symmetric: only what holds both ways is equal.
            holds = [
                verify(a, b, float_rounding=_NUM_DIGITS, timeout_seconds=None)
                for a, b in ((one, other), (other, one))
            ]
        except _MATH_VERIFY_ERRORS:
            return "unread"
        return "equal" if all(holds) else "different"

    return are_equal


def _reply(outcome: str) -> None:
    sys.stdout.write(f"{outcome}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
