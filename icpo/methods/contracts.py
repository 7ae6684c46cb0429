"""Checks that methods, selectors and rewards keep to their protocols.

A breach is one line. Unchecked, a wrong index or tag would become a wrong number in a table, and a wrong type
a traceback. Lists of indices and tags are as good as tuples, and numpy's numbers as good as ints; they become
these.
"""

import operator
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from icpo.errors import ContractError
from icpo.methods.drive import Run
from icpo.safe_text import shortened
from icpo.types import (
    AskLookahead,
    Attempt,
    Candidate,
    Completion,
    Lookahead,
    Looking,
    Method,
    Observer,
    Question,
    QuestionResult,
    Rewards,
    RewardSource,
    Round,
    SampleRequest,
    Selecting,
    Selection,
    Selector,
    Solving,
    Step,
    Toolkit,
    Votes,
)

MAX_STAGES = 20_000  # of one question: far more than rounds, look-aheads and prompts too long come to
NUM_SHOWN_LETTERS = 80
T = TypeVar("T")


class Contract(Observer):
    """Holds a method to its protocol while it solves a question.

    Raises ContractError where the method yields anything but requests, returns anything but a result of this
    question under this seed, or does not end within `max_stages`.
    """

    def __init__(
        self, method: Method, question: Question, seed: int, solving: Solving, *, max_stages: int = MAX_STAGES
    ) -> None:
        self._name = _name("method", method)
        self._question, self._seed, self._solving = question, seed, solving
        self._num_stages, self._max_stages = 0, max_stages
        _require_generator(f"{self._name}: solve", solving, QuestionResult)

    def requested(self, requests: list[SampleRequest]) -> None:
        """Check a stage's requests.

        Raises ContractError, which names the function that yielded them.
        """
        self._num_stages += 1
        where = f"{self._name}: {_innermost(self._solving)}"
        if self._num_stages > self._max_stages:
            raise ContractError(
                f"{self._name}: solve must end, and after {self._max_stages:,} stages of one question it had "
                "not."
            )
        _hold(
            isinstance(requests, list) and all(isinstance(x, SampleRequest) for x in requests),
            f"{where} must yield a list of SampleRequest, as `yield [tools.ask(...)]` does",
            requests,
        )

    def returned(self, result: QuestionResult) -> QuestionResult:
        """Check the result; raises ContractError."""
        name, seed = self._name, self._seed
        _hold(isinstance(result, QuestionResult), f"{name}: solve must return QuestionResult", result)
        given = (
            f"solve was given question {self._question.question_id!r} under seed {seed} and must return them"
        )
        _hold(result.question == self._question, f"{name}: {given}", result.question)
        _hold(result.seed == seed, f"{name}: {given}", result.seed)
        _hold(
            isinstance(result.trace, tuple) and all(map(_is_traced, result.trace)),
            f"{name}: trace must be a tuple of Round and Step, () for none, their candidates a tuple of "
            "Candidate, in a Round at least one",
            result.trace,
        )
        _hold(
            _are_finals(result.finals),
            f"{name}: finals must be a tuple of pairs (rounds done, tuple of Candidate), at least one of "
            "each and rounds done ever more",
            result.finals,
        )
        dropped, num_finals = result.dropped_at_finals, len(result.finals)
        _hold(
            isinstance(dropped, tuple) and len(dropped) in (0, num_finals),
            f"{name}: dropped_at_finals must be a tuple of one number a pair of finals, {num_finals} here, "
            "or ()",
            dropped,
        )
        return result


def start(
    method: Method, question: Question, tools: Toolkit, *, seed: int, observers: Sequence[Observer] = ()
) -> Run:
    """A method's run on a question, held to the contract."""
    solving = method.solve(question, tools, seed=seed)
    return Run(solving, (Contract(method, question, seed, solving), *observers))


def rewarded(
    source: RewardSource, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
) -> Rewards:
    """The source's rewards, tags made plain.

    Raises ContractError unless each candidate has a tag of 0, 1 or None; True is 1 and False 0.
    """
    given = source.rewards(question, candidates, votes, seed=seed)
    sentence = (
        f"{_name('reward', source)}: rewards must return Rewards(tags) with a tuple of {len(candidates)} "
        "tags, each 0, 1 or None"
    )
    _hold(isinstance(given, Rewards), sentence, given)
    tags = _each(_tag, given.tags, sentence)
    _hold(len(tags) == len(candidates) and {*tags} <= {0, 1, None}, sentence, given.tags)
    return replace(given, tags=tags)


def selected(
    selector: Selector, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
) -> Selecting:
    """The selector's selection, made plain.

    Raises ContractError where it keeps anything but different attempts of those given, or asks for more than
    `num_lookaheads` of one in all.
    """
    name, num_attempts = _name("selector", selector), len(attempts)
    bounded = _bounded(name, ask, num_attempts, num_lookaheads)
    selecting = selector.select(attempts, bounded, num_lookaheads=num_lookaheads, seed=seed)
    _require_generator(f"{name}: select", selecting, Selection)
    selection = yield from selecting
    _hold(isinstance(selection, Selection), f"{name}: select must return Selection", selection)
    sentence = (
        f"{name}: kept must be a tuple of different indices of the {num_attempts} attempts given, () for none"
    )
    kept = _each(_index, selection.kept, sentence)
    _hold({*kept} <= {*range(num_attempts)} and len({*kept}) == len(kept), sentence, selection.kept)
    lookaheads = selection.lookaheads
    _hold(
        isinstance(lookaheads, tuple | list) and all(isinstance(x, Lookahead) for x in lookaheads),
        f"{name}: lookaheads must be a tuple of what `yield from ask(...)` returned, () for none",
        lookaheads,
    )
    return replace(selection, kept=kept, lookaheads=tuple(lookaheads))


def _require_generator(member: str, made: object, wanted: type) -> None:
    _hold(
        isinstance(made, Generator),
        f"{member} must be a generator that returns {wanted.__name__} (one that samples nothing begins with "
        "`yield from ()`)",
        made,
    )


def _innermost(computation: object) -> str:
    """The function whose `yield` a computation is at, as `Class.function`."""
    while (inner := getattr(computation, "gi_yieldfrom", None)) is not None:
        computation = inner
    return str(getattr(computation, "__qualname__", type(computation).__name__))


def _bounded(name: str, ask: AskLookahead, num_attempts: int, num_lookaheads: int) -> AskLookahead:
    """The same `ask`, what is asked of each attempt made plain and added up."""
    asked: Counter[int] = Counter()
    sentence = f"{name}: ask takes {{index: number}} with indices of the {num_attempts} attempts given"

    def bounded(wanted: Mapping[int, int]) -> Looking:
        _hold(isinstance(wanted, Mapping), sentence, wanted)
        numbers = _each(_index, wanted.values(), sentence)
        plain = dict(zip(_each(_index, wanted, sentence), numbers, strict=True))
        _hold({*plain} <= {*range(num_attempts)}, sentence, plain)
        for i, number in plain.items():
            if not 0 < number <= num_lookaheads - asked[i]:
                raise ContractError(
                    f"{name}: ask({_shown(plain)}) must leave attempt {i} between 1 and "
                    f"num_lookaheads={num_lookaheads} look-aheads in all, and {asked[i]} were asked for "
                    "before. Ask for fewer, or raise budget.num_lookaheads."
                )
        asked.update(plain)
        return ask(plain)

    return bounded


def _is_traced(step: object) -> bool:
    match step:
        case Step(candidates=found) | Round(candidates=(_, *_) as found):
            return _are_candidates(found)
    return False


def _are_finals(finals: object) -> bool:
    most = -1
    for pair in finals if isinstance(finals, tuple) else ():
        match pair:
            case done, (_, *_) as found if type(done) is int and done > most and _are_candidates(found):
                most = done
            case _:
                return False
    return most >= 0


def _are_candidates(found: object) -> bool:
    return isinstance(found, tuple) and all(
        isinstance(c, Candidate) and isinstance(c.completion, Completion) and isinstance(c.answer, str | None)
        for c in found
    )


def _each(made: Callable[[Any], T], values: Iterable[object], sentence: str) -> tuple[T, ...]:
    """What is made of each value; where that raises TypeError, the sentence is its error."""
    try:
        return tuple(map(made, values))
    except TypeError:
        raise ContractError(f"{sentence}, got {_shown(values)}.") from None


def _index(number: Any) -> int:
    """A plain int; raises TypeError for a boolean: a mask would be taken for indices 0 and 1."""
    if isinstance(number, bool | np.bool_):
        raise TypeError
    return operator.index(number)


def _tag(tag: Any) -> int | None:
    return None if tag is None else operator.index(bool(tag) if isinstance(tag, np.bool_) else tag)


def _hold(condition: bool, sentence: str, value: object) -> None:
    if not condition:
        raise ContractError(f"{sentence}, got {_shown(value)}.")


def _name(group: str, part: object) -> str:
    """`selector=mine`, as the command line calls it."""
    return f"{group}={getattr(part, 'name', type(part).__name__)}"


def _shown(value: object) -> str:
    """A value in one line, its end left out where it is long."""
    return shortened(" ".join(repr(value).split()), NUM_SHOWN_LETTERS)
