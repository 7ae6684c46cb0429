"""The one object that the rest of icpo asks about answers."""

import re
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from icpo.grading.alternatives import alternatives
from icpo.grading.choices import choice_in
from icpo.grading.equivalence import Equivalence, Verdict
from icpo.grading.extract import extract
from icpo.grading.maths.fingerprints import Keys, keys, surface
from icpo.grading.maths.forms import normal_form
from icpo.grading.maths.labels import symbols_in
from icpo.grading.maths.reading import read
from icpo.grading.rules import GradingRules
from icpo.grading.votes import tally
from icpo.grading.workers import Outcome, shared_pool
from icpo.types import AnswerKind, Votes

_NUM_CACHED = 20_000
_MAX_ASKED = 8  # questions to math-verify for one verdict, as of lists and matrices

_HALF_SIGN = re.compile(r"(?:[<>!/]|\\not\s*)$")  # of >=, !=, \not=
Ask = Callable[[str, str], Outcome]


class Grader:
    """Reads, compares and counts answers under a protocol's rules.

    Safe to use from any thread. Nothing is started before math-verify is needed. Verdicts are cached by kind,
    gold and answer, and what math-verify said is remembered in this process. `ask` takes the place of
    math-verify. `num_timed_out` counts comparisons that exceeded a limit, `num_asked` those that math-verify
    was asked.
    """

    def __init__(
        self,
        rules: GradingRules,
        timeout_seconds: float = 3.0,
        *,
        memory_limit_mb: int = 1024,
        max_workers: int = 2,
        ask: Ask | None = None,
    ) -> None:
        self.rules = rules
        self._pool = shared_pool(timeout_seconds, memory_limit_mb, max_workers)
        self._question = ask or self._pool.ask
        self._lock = threading.Lock()
        self.num_timed_out = self.num_asked = 0
        self._ask = lru_cache(maxsize=_NUM_CACHED)(self._ask_counted)
        self._verdict = lru_cache(maxsize=_NUM_CACHED)(self._decide)
        self._normal_form = lru_cache(maxsize=_NUM_CACHED)(self._find_normal_form)
        self._keys = lru_cache(maxsize=_NUM_CACHED)(self._find_keys)
        self._verdict_unasked = lru_cache(maxsize=_NUM_CACHED)(self._decide_unasked)

    def extract(self, text: str, kind: AnswerKind) -> str | None:
        """The answer that a completion gives; None is an abstention."""
        answer = extract(text, kind, self.rules)
        if answer is not None and self.rules.zero_is_no_answer and kind is AnswerKind.NUMBER:
            return None if self.are_equal(answer, "0", kind) else answer
        return answer

    def normal_form(self, answer: str, kind: AnswerKind) -> str:
        """One text for all answers of the same value."""
        return self._normal_form(answer, kind)

    def _find_normal_form(self, answer: str, kind: AnswerKind) -> str:
        if kind is AnswerKind.CHOICE:
            return choice_in(answer, lowercase=self.rules.accept_lowercase_choice) or answer.strip()
        if self._compares_text(kind):
            return answer.strip()
        return normal_form(read(_last_side(answer, kind)))

    def judge(self, answer: str | None, gold: str, kind: AnswerKind) -> Verdict:
        """Whether an answer equals the gold, or any of several."""
        if answer is None or not answer.strip():
            return Verdict(None, "abstained")
        verdicts = [self._verdict(kind, one, answer) for one in alternatives(gold)]
        right = [verdict for verdict in verdicts if verdict.correct]
        late = [verdict for verdict in verdicts if verdict.timed_out]
        return [*right, *late, *verdicts][0]

    def are_equal(self, one: str, other: str, kind: AnswerKind) -> bool:
        """Whether two answers are equal."""
        return self.verdict(one, other, kind).correct is True

    def tally(self, answers: Sequence[str | None], kind: AnswerKind) -> Votes:
        """The answers by equivalence class; None and blank answers abstain."""
        return tally(answers, _Relation(self, kind), self.rules.vote_budget)

    def close(self) -> None:
        """Ends the worker processes; a later question starts new ones."""
        self._pool.close()

    def __enter__(self) -> "Grader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def compares_text(self, kind: AnswerKind) -> bool:
        """Whether answers of a kind are compared as texts or letters."""
        return kind is AnswerKind.CHOICE or self._compares_text(kind)

    def verdict(self, one: str, other: str, kind: AnswerKind) -> Verdict:
        """The verdict on two answers, neither of which is the gold."""
        return self._verdict(kind, *sorted((one, other)))

    def verdict_unasked(self, one: str, other: str, kind: AnswerKind) -> Verdict:
        """The verdict without math-verify; `not_asked` where only it decides."""
        return self._verdict_unasked(kind, *sorted((one, other)))

    def surface_and_keys(self, answer: str, kind: AnswerKind) -> tuple[Hashable, Keys | None]:
        """What votes need to know to compare few pairs (`maths.fingerprints`)."""
        return self._keys(answer, kind)

    def _find_keys(self, answer: str, kind: AnswerKind) -> tuple[Hashable, Keys | None]:
        if self.compares_text(kind):
            return None, frozenset()
        form = read(_last_side(answer, kind))
        return surface(form), keys(form)

    def _compares_text(self, kind: AnswerKind) -> bool:
        return kind is AnswerKind.EXPRESSION and self.rules.string_equality

    def _ask_counted(self, left: str, right: str) -> Outcome:
        outcome = self._question(left, right)
        with self._lock:
            self.num_asked += 1
            self.num_timed_out += outcome.is_exceeded
        return outcome

    def _decide(self, kind: AnswerKind, gold: str, answer: str) -> Verdict:
        asked: list[Outcome] = []

        def ask(left: str, right: str) -> Outcome:
            if len(asked) >= _MAX_ASKED or any(outcome.is_exceeded for outcome in asked):
                return Outcome.NOT_ASKED
            asked.append(self._ask(left, right))
            return asked[-1]

        return self._decide_with(ask, kind, gold, answer)

    def _decide_unasked(self, kind: AnswerKind, gold: str, answer: str) -> Verdict:
        return self._decide_with(lambda left, right: Outcome.NOT_ASKED, kind, gold, answer)

    def _decide_with(self, ask: Ask, kind: AnswerKind, gold: str, answer: str) -> Verdict:
        if kind is AnswerKind.CHOICE:
            return Verdict(self.normal_form(gold, kind) == self.normal_form(answer, kind), "choice")
        if self._compares_text(kind):
            return Verdict(gold.strip() == answer.strip(), "string")
        return Equivalence(self.rules, ask).verdict(_last_side(gold, kind), _last_side(answer, kind))


@dataclass(frozen=True, slots=True)
class _Relation:
    """What a vote asks, answered by a grader for answers of one kind."""

    grader: Grader
    kind: AnswerKind

    def value_of(self, answer: str) -> Hashable:
        if self.grader.compares_text(self.kind):
            return self.grader.normal_form(answer, self.kind)
        return read(_last_side(answer, self.kind))

    def surface_of(self, answer: str) -> Hashable:
        return self.grader.surface_and_keys(answer, self.kind)[0]

    def representative_of(self, answer: str) -> str:
        return self.grader.normal_form(answer, self.kind)

    def keys_of(self, answer: str) -> frozenset[Hashable] | None:
        return self.grader.surface_and_keys(answer, self.kind)[1]

    def are_equal(self, one: str, other: str) -> bool | None:
        verdict = self.grader.verdict_unasked(one, other, self.kind)
        return None if verdict.rule == Outcome.NOT_ASKED.value else verdict.correct

    def are_equal_at_any_cost(self, one: str, other: str) -> bool | None:
        verdict = self.grader.verdict(one, other, self.kind)
        return None if verdict.timed_out else verdict.correct


def _last_side(answer: str, kind: AnswerKind) -> str:
    """Of a number given as an equation ("m + n = 25"), the number; not of 2x = 10, x >= 3 or x = 5, y = 3."""
    before, _, last = answer.rpartition("=")
    if kind is not AnswerKind.NUMBER or not last.strip() or _HALF_SIGN.search(before):
        return answer
    form = read(answer)
    match form.shape:
        case "labelled":
            is_last = form.parts == (read(last),)
        case "equation":
            is_last = form.value is not None and len(symbols_in(form.value)) > 1
        case shape:
            is_last = shape in ("scalar", "unread")
    return last if is_last else answer
