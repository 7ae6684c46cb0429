"""The one object that the rest of icpo asks about answers."""

from collections.abc import Sequence
from functools import lru_cache

from icpo.grading.choices import choice_in
from icpo.grading.equivalence import Equivalence, Verdict
from icpo.grading.extract import extract
from icpo.grading.maths.forms import normal_form
from icpo.grading.maths.reading import read
from icpo.grading.rules import GradingRules
from icpo.grading.votes import tally
from icpo.grading.workers import WorkerPool
from icpo.types import AnswerKind, Votes

_NUM_CACHED = 20_000


class Grader:
    """Reads, compares and counts answers under the rules of a protocol; safe to use from any thread.

    Nothing is started before math-verify is needed. Verdicts are cached by kind, gold and answer.
    `num_timed_out` counts comparisons that exceeded a limit, `num_asked` those that math-verify was asked.
    """

    def __init__(
        self,
        rules: GradingRules,
        timeout_seconds: float = 3.0,
        *,
        memory_limit_mb: int = 1024,
        max_workers: int = 2,
    ) -> None:
        self.rules = rules
        self._pool = WorkerPool(
            timeout_seconds=timeout_seconds, memory_limit_mb=memory_limit_mb, max_workers=max_workers
        )
        self._ask = lru_cache(maxsize=_NUM_CACHED)(self._pool.ask)
        self._equivalence = Equivalence(rules, self._ask)
        self._verdict = lru_cache(maxsize=_NUM_CACHED)(self._decide)

    @property
    def num_timed_out(self) -> int:
        """Comparisons that exceeded a limit of time or memory."""
        return self._pool.num_exceeded

    @property
    def num_asked(self) -> int:
        """Comparisons that left the process."""
        return self._ask.cache_info().misses

    def extract(self, text: str, kind: AnswerKind) -> str | None:
        """The answer that a completion gives; None is an abstention."""
        return extract(text, kind, self.rules)

    def normal_form(self, answer: str, kind: AnswerKind) -> str:
        """One text for all answers of the same value; the answer itself where texts are compared."""
        if kind is AnswerKind.CHOICE:
            return choice_in(answer, lowercase=self.rules.accept_lowercase_choice) or answer.strip()
        if self._compares_text(kind):
            return answer.strip()
        return normal_form(read(_last_side(answer, kind)))

    def judge(self, answer: str | None, gold: str, kind: AnswerKind) -> Verdict:
        """Whether an answer equals the gold answer; correct is None if it abstained."""
        if answer is None or not answer.strip():
            return Verdict(None, "abstained")
        return self._verdict(kind, gold, answer)

    def are_equal(self, one: str, other: str, kind: AnswerKind) -> bool:
        """Whether two answers are equal."""
        return self._verdict(kind, *sorted((one, other))).correct is True

    def tally(self, answers: Sequence[str | None], kind: AnswerKind) -> Votes:
        """The answers by equivalence class; None and blank answers abstain."""
        is_text = kind is AnswerKind.CHOICE or self._compares_text(kind)
        return tally(
            answers,
            value_of=lambda answer: (
                self.normal_form(answer, kind) if is_text else read(_last_side(answer, kind))
            ),
            representative_of=lambda answer: self.normal_form(answer, kind),
            are_equal=lambda one, other: self.are_equal(one, other, kind),
        )

    def close(self) -> None:
        """Ends the worker processes; a later question starts new ones."""
        self._pool.close()

    def __enter__(self) -> "Grader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _compares_text(self, kind: AnswerKind) -> bool:
        return kind is AnswerKind.EXPRESSION and self.rules.string_equality

    def _decide(self, kind: AnswerKind, gold: str, answer: str) -> Verdict:
        if kind is AnswerKind.CHOICE:
            return Verdict(self.normal_form(gold, kind) == self.normal_form(answer, kind), "choice")
        if self._compares_text(kind):
            return Verdict(gold.strip() == answer.strip(), "string")
        return self._equivalence.verdict(_last_side(gold, kind), _last_side(answer, kind))


def _last_side(answer: str, kind: AnswerKind) -> str:
    """Of a number given as an equation ("m + n = 25"), the number."""
    last = answer.rpartition("=")[2]
    return last if kind is AnswerKind.NUMBER and last.strip() else answer
