"""Whether finals copy the history, and whether its tags are true."""

from collections.abc import Callable, Sequence

from icpo.types import AnswerKind, QuestionResult, QuestionScore, Round, Votes

Tally = Callable[[Sequence[str | None], AnswerKind], Votes]


def copy_share(result: QuestionResult, score: QuestionScore, tally: Tally) -> float | None:
    """Share of final samples equal to the history's top rewarded answer.

    A final that equals any of several tied ones counts. None when the history holds no reward-1 attempt.
    History and finals are put into classes together by `tally`, so that "0.5" copies "1/2". Attempts that
    did not fit a prompt count as history.
    """
    rewarded = [answer for round_ in result.rounds for answer in _kept_rewarded(round_)]
    if not rewarded:
        return None
    finals = [label or None for label in score.last.labels]  # "" is an abstention that voted
    labels = tally([*rewarded, *finals], result.question.kind).labels
    of_history = labels[: len(rewarded)]
    most = max(map(of_history.count, of_history))
    copied = {label for label in of_history if of_history.count(label) == most}
    return sum(label in copied for label in labels[len(rewarded) :]) / len(finals)


def tag_hits(result: QuestionResult, score: QuestionScore) -> tuple[int, int]:
    """How many tags are true, and how many there are.

    Candidates without an answer have none.
    """
    pairs = [
        (tag == 1, correct)
        for round_, graded in zip(result.rounds, score.rounds, strict=True)
        for tag, correct in zip(round_.rewards.tags, graded.correct, strict=True)
        if tag is not None and correct is not None
    ]
    return sum(tag == correct for tag, correct in pairs), len(pairs)


def _kept_rewarded(round_: Round) -> list[str | None]:
    """Answers of the kept attempts with reward 1."""
    kept = (round_.attempts[i] for i in round_.kept)
    return [attempt.candidate.answer for attempt in kept if attempt.reward == 1]
