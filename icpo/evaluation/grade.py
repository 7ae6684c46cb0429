"""From stored results to scores, where answers meet golds."""

from collections.abc import Sequence

from icpo.grading import Grader
from icpo.types import (
    AnswerKind,
    Candidate,
    FinishReason,
    GradedFinals,
    GradedRound,
    Outcome,
    QuestionResult,
    QuestionScore,
)

TRUNCATED = (FinishReason.LENGTH, FinishReason.PROMPT_TOO_LONG)


def grade_result(
    result: QuestionResult, gold: str, grader: Grader, *, abstentions_vote: bool
) -> QuestionScore:
    """Grades a result: its finals, and the candidates of its rounds."""
    question = result.question
    return QuestionScore(
        question_id=question.question_id,
        seed=result.seed,
        gold=gold,
        finals=tuple(
            (done, _finals(finals, gold, question.kind, grader, abstentions_vote))
            for done, finals in result.finals
        ),
        rounds=tuple(
            GradedRound(tuple(_is_right(c.answer, gold, question.kind, grader) for c in round_.candidates))
            for round_ in result.rounds
        ),
    )


def _finals(
    finals: Sequence[Candidate], gold: str, kind: AnswerKind, grader: Grader, abstentions_vote: bool
) -> GradedFinals:
    votes = grader.tally([final.answer for final in finals], kind)
    labels = ["" if label is None and abstentions_vote else label for label in votes.labels]
    outcomes = tuple(_outcome(final, gold, kind, grader) for final in finals)
    return GradedFinals(outcomes, tuple(labels), votes.num_skipped)


def _outcome(final: Candidate, gold: str, kind: AnswerKind, grader: Grader) -> Outcome:
    if final.answer is None:
        return Outcome.TRUNCATED if final.completion.finish_reason in TRUNCATED else Outcome.UNPARSED
    verdict = grader.judge(final.answer, gold, kind)
    if verdict.timed_out:
        return Outcome.TIMED_OUT
    return Outcome.CORRECT if verdict.correct else Outcome.WRONG


def _is_right(answer: str | None, gold: str, kind: AnswerKind, grader: Grader) -> bool | None:
    return None if answer is None else bool(grader.judge(answer, gold, kind).correct)
