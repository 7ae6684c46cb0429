"""Results made by hand, with as much in them as a metric looks at."""

from icpo.types import (
    AnswerKind,
    Attempt,
    Candidate,
    Completion,
    FinishReason,
    Lookahead,
    Question,
    QuestionResult,
    Rewards,
    Round,
    Step,
    Usage,
    Votes,
)

USAGE = Usage(3, 9, 100, 10, 40, {"candidate": 30, "final": 10})
NO_VOTES = Votes((), 0)


def round_(answers, tags, kept, bits=()):
    """A round in which every candidate with an answer became an attempt."""
    candidates = candidates_of(answers)
    eligible = tuple(i for i, answer in enumerate(answers) if answer is not None)
    attempts = tuple(Attempt(candidates[i], tags[i], "s") for i in eligible)
    lookaheads = tuple(Lookahead(i, votes_of(b)) for i, b in enumerate(bits))
    return Round(candidates, NO_VOTES, Rewards(tuple(tags)), eligible, attempts, lookaheads, tuple(kept))


def votes_of(bits):
    """Votes whose entropy is `bits`; half a bit is one answer beside one abstention."""
    if bits == 0.5:
        return Votes((("7", 1),), 1)
    counts = {1.0: (1, 1), 1.5: (2, 1, 1), 2.0: (1, 1, 1, 1)}[bits]
    return Votes(tuple((str(i), n) for i, n in enumerate(counts)), 0)


def result(question_id, seed, *trace):
    return QuestionResult(Question(question_id, "?", AnswerKind.NUMBER), seed, trace, (), USAGE)


def step(answers=(), verdicts=()):
    return Step("s", candidates_of(answers), verdicts=verdicts)


def candidates_of(answers):
    return tuple(Candidate(Completion("", 0, 0, FinishReason.STOP), answer) for answer in answers)
