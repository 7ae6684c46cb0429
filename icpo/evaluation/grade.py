"""Stored results to scores: the only place where answers meet golds, and only after a question is done."""

from collections.abc import Mapping, Sequence
from typing import Any

from icpo.grading import Grader
from icpo.metrics import GradedFinals, GradedRound, Outcome, QuestionScore
from icpo.types import AnswerKind, FinishReason

TRUNCATED = (FinishReason.LENGTH.value, FinishReason.PROMPT_TOO_LONG.value)


def grade_line(
    line: Mapping[str, Any], gold: str, grader: Grader, *, abstentions_vote: bool
) -> QuestionScore:
    """Grades one line of results.jsonl: its finals, and the candidates of its rounds."""
    kind = AnswerKind(line["kind"])
    return QuestionScore(
        question_id=line["question_id"],
        seed=line["seed"],
        gold=gold,
        finals=tuple(
            (done, _finals(finals, gold, kind, grader, abstentions_vote)) for done, finals in line["finals"]
        ),
        rounds=tuple(
            GradedRound(tuple(_is_right(c["answer"], gold, kind, grader) for c in step["candidates"]))
            for step in line["trace"]
            if step["type"] == "round"
        ),
    )


def _finals(
    finals: Sequence[Mapping[str, Any]], gold: str, kind: AnswerKind, grader: Grader, abstentions_vote: bool
) -> GradedFinals:
    votes = grader.tally([final["answer"] for final in finals], kind)
    labels = ["" if label is None and abstentions_vote else label for label in votes.labels]
    return GradedFinals(tuple(_outcome(final, gold, kind, grader) for final in finals), tuple(labels))


def _outcome(final: Mapping[str, Any], gold: str, kind: AnswerKind, grader: Grader) -> Outcome:
    if final["answer"] is None:
        return Outcome.TRUNCATED if final["finish_reason"] in TRUNCATED else Outcome.UNPARSED
    verdict = grader.judge(final["answer"], gold, kind)
    if verdict.timed_out:
        return Outcome.TIMED_OUT
    return Outcome.CORRECT if verdict.correct else Outcome.WRONG


def _is_right(answer: str | None, gold: str, kind: AnswerKind, grader: Grader) -> bool | None:
    return None if answer is None else bool(grader.judge(answer, gold, kind).correct)
