"""Holds methods, selectors and reward sources to their protocols; what one does otherwise is told in a line.

Unchecked, a wrong index or tag would become a wrong number in a table, and a wrong type a traceback.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import TypeVar

from icpo.errors import ContractError
from icpo.types import (
    AskLookahead,
    Attempt,
    Batches,
    Candidate,
    Completion,
    Drawing,
    Lookahead,
    Looking,
    Method,
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
MEMBERS = {
    "method": ("name", "label", "solve"),
    "reward": ("name", "tagged", "rewards"),
    "selector": ("name", "needs_lookaheads", "select"),
}
T = TypeVar("T")


def require_members(group: str, part: object) -> None:
    """Raises ContractError where a method, reward or selector lacks a member of its protocol."""
    missing = [name for name in MEMBERS[group] if not hasattr(part, name)]
    if missing:
        raise ContractError(
            f"{_name(group, part)}: {type(part).__name__} has no {' and no '.join(missing)}; "
            f"a {group} needs {', '.join(MEMBERS[group])} (icpo/types/protocols.py)."
        )


def solved(method: Method, question: Question, tools: Toolkit, *, seed: int) -> Solving:
    """The method's solving of a question.

    Raises ContractError where it yields anything but requests, returns anything but a result of this
    question under this seed, or does not end.
    """
    name = _name("method", method)
    result = yield from _drawing(f"{name}: solve", method.solve(question, tools, seed=seed), QuestionResult)
    if (result.question, result.seed) != (question, seed):
        raise ContractError(
            f"{name}: solve was given question {question.question_id!r} under seed {seed} and must return "
            f"them, got {_shown(result.question)} under seed {_shown(result.seed)}."
        )
    if not isinstance(result.trace, tuple) or not all(isinstance(x, Round | Step) for x in result.trace):
        raise ContractError(
            f"{name}: trace must be a tuple of Round and Step, () for none, got {_shown(result.trace)}."
        )
    if not isinstance(result.finals, tuple) or not result.finals or not all(map(_are_finals, result.finals)):
        raise ContractError(
            f"{name}: finals must be a tuple of pairs (rounds done, tuple of Candidate), at least one of "
            f"each, got {_shown(result.finals)}."
        )
    return result


def rewarded(
    source: RewardSource, question: Question, candidates: Sequence[Candidate], votes: Votes, *, seed: int
) -> Rewards:
    """The source's rewards. Raises ContractError unless each candidate has a tag of 0, 1 or None."""
    given: object = source.rewards(question, candidates, votes, seed=seed)
    tags = given.tags if isinstance(given, Rewards) else given
    if not isinstance(given, Rewards) or not _are_tags(tags, len(candidates)):
        raise ContractError(
            f"{_name('reward', source)}: rewards must return Rewards(tags) with a tuple of {len(candidates)} "
            f"tags, each 0, 1 or None, got {_shown(tags)}."
        )
    return given


def selected(
    selector: Selector, attempts: Sequence[Attempt], ask: AskLookahead, *, num_lookaheads: int, seed: int
) -> Selecting:
    """The selector's selection.

    Raises ContractError where it keeps anything but different attempts of those given, or asks for more than
    `num_lookaheads` of one in all.
    """
    name, num_attempts = _name("selector", selector), len(attempts)
    bounded = _bounded(name, ask, num_attempts, num_lookaheads)
    selecting = selector.select(attempts, bounded, num_lookaheads=num_lookaheads, seed=seed)
    selection = yield from _drawing(f"{name}: select", selecting, Selection)
    kept, lookaheads = selection.kept, selection.lookaheads
    if not isinstance(kept, tuple) or not _are_indices(kept, num_attempts) or len(set(kept)) < len(kept):
        raise ContractError(
            f"{name}: kept must be a tuple of different indices of the {num_attempts} attempts given, () for "
            f"none, got {_shown(kept)}."
        )
    if not isinstance(lookaheads, tuple) or not all(isinstance(x, Lookahead) for x in lookaheads):
        raise ContractError(
            f"{name}: lookaheads must be a tuple of what `yield from ask(...)` returned, () for none, "
            f"got {_shown(lookaheads)}."
        )
    return selection


def _drawing(member: str, drawing: object, wanted: type[T]) -> Drawing[T]:
    """The same computation, all that it yields and returns looked at."""
    if not isinstance(drawing, Generator):
        raise ContractError(
            f"{member} must be a generator that returns {wanted.__name__}, got {_shown(drawing)}; one that "
            "draws nothing begins with `yield from ()`."
        )
    answers: Batches | None = None
    for _ in range(MAX_STAGES):
        try:
            requests = drawing.send(answers)
        except StopIteration as stop:
            if not isinstance(stop.value, wanted):
                raise ContractError(
                    f"{member} must return {wanted.__name__}, got {_shown(stop.value)}."
                ) from None
            return stop.value
        if not isinstance(requests, list) or not all(isinstance(x, SampleRequest) for x in requests):
            raise ContractError(
                f"{member} must yield a list of SampleRequest, as `yield [tools.ask(...)]` does, "
                f"got {_shown(requests)}."
            )
        answers = yield requests
    raise ContractError(f"{member} must end, and after {MAX_STAGES:,} draws for one question it had not.")


def _bounded(name: str, ask: AskLookahead, num_attempts: int, num_lookaheads: int) -> AskLookahead:
    """The same `ask`, what is asked of each attempt added up."""
    asked: Counter[int] = Counter()

    def bounded(wanted: Mapping[int, int]) -> Looking:
        if not isinstance(wanted, Mapping) or not _are_indices(wanted, num_attempts):
            raise ContractError(
                f"{name}: ask takes {{index: number}} with indices of the {num_attempts} attempts given, "
                f"got {_shown(wanted)}."
            )
        for i, number in wanted.items():
            if type(number) is not int or not 0 < number <= num_lookaheads - asked[i]:
                raise ContractError(
                    f"{name}: ask({_shown(dict(wanted))}) must leave attempt {i} between 1 and "
                    f"num_lookaheads={num_lookaheads} look-aheads in all, and {asked[i]} were asked for "
                    "before. Ask for fewer, or raise method.num_lookaheads."
                )
        asked.update(wanted)
        return ask(wanted)

    return bounded


def _are_finals(pair: object) -> bool:
    match pair:
        case (int(), (_, *_) as found):
            return all(map(_is_candidate, found))
    return False


def _is_candidate(found: object) -> bool:
    match found:
        case Candidate(completion=Completion(), answer=None | str()):
            return True
    return False


def _are_tags(tags: object, number: int) -> bool:
    if not isinstance(tags, tuple) or len(tags) != number:
        return False
    return all(tag is None or (type(tag) is int and tag in (0, 1)) for tag in tags)


def _are_indices(found: Iterable[object], number: int) -> bool:
    return all(type(i) is int and 0 <= i < number for i in found)


def _name(group: str, part: object) -> str:
    """`selector=mine`, as the command line calls it."""
    return f"{group}={getattr(part, 'name', type(part).__name__)}"


def _shown(value: object) -> str:
    """A value in one line, its end left out where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= NUM_SHOWN_LETTERS else f"{text[:NUM_SHOWN_LETTERS]}..."
