"""Results and scores as lines of JSON, both ways.

docs/reliability.md describes the fields. Texts of completions stay in the journal: a result that was read has
completions without text, whose `draw` says where it is. All else comes back as it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from icpo.types import Candidate, Lookahead, QuestionResult, QuestionScore, Round, Step, Votes

Line = Mapping[str, Any]

_RESULT = TypeAdapter(QuestionResult)
_SCORE = TypeAdapter(QuestionScore)


def encode_result(result: QuestionResult) -> dict[str, Any]:
    """A result as one line of results.jsonl."""
    return {
        "question_id": result.question.question_id,
        "seed": result.seed,
        "kind": result.question.kind.value,
        "text": result.question.text,
        "usage": asdict(result.usage),
        "usage_at_finals": [asdict(usage) for usage in result.usage_at_finals],
        "dropped_at_finals": list(result.dropped_at_finals),
        "trace": [
            _encode_round(step) if isinstance(step, Round) else _encode_step(step) for step in result.trace
        ],
        "finals": [[rounds_done, _encode_candidates(finals)] for rounds_done, finals in result.finals],
    }


def decode_result(line: Line) -> QuestionResult:
    """The inverse of `encode_result`, except for texts and prompt tokens of completions.

    Raises:
        ValueError: a field is missing or of another type.
    """
    try:
        question = {"question_id": line["question_id"], "text": line["text"], "kind": line["kind"]}
        trace = [
            _decode_round(step) if step["type"] == "round" else _decode_step(step) for step in line["trace"]
        ]
        finals = [(rounds_done, _decode_candidates(finals)) for rounds_done, finals in line["finals"]]
        return _RESULT.validate_python({**line, "question": question, "trace": trace, "finals": finals})
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"not a result: {type(error).__name__} {error}") from error


def encode_score(score: QuestionScore) -> dict[str, Any]:
    """A score as one line of scores.jsonl."""
    return asdict(score)


def decode_score(line: Line) -> QuestionScore:
    """The inverse of `encode_score`. Raises ValueError for a malformed field."""
    return _SCORE.validate_python(dict(line))


def _encode_round(round_: Round) -> dict[str, Any]:
    rewards = round_.rewards
    return {
        "type": "round",
        "candidates": _encode_candidates(round_.candidates),
        "votes": _encode_votes(round_.votes),
        "rewards": {"tags": list(rewards.tags), "winner": rewards.winner, "num_tied": rewards.num_tied},
        "eligible": list(round_.eligible),
        "attempts": [{"reward": a.reward, "summary": a.summary} for a in round_.attempts],
        "lookaheads": [_encode_lookahead(lookahead) for lookahead in round_.lookaheads],
        "kept": list(round_.kept),
        "num_dropped": round_.num_dropped,
    }


def _decode_round(row: Line) -> dict[str, Any]:
    """A round's fields. Candidates of look-aheads are not stored; entropy follows from votes."""
    candidates = _decode_candidates(row["candidates"])
    attempts = [
        {**attempt, "candidate": candidates[i]}
        for i, attempt in zip(row["eligible"], row["attempts"], strict=True)
    ]
    return {**row, "candidates": candidates, "attempts": attempts}


def _encode_step(step: Step) -> dict[str, Any]:
    return {
        "type": "step",
        "name": step.name,
        "candidates": _encode_candidates(step.candidates),
        "value": step.value,
        "parent": step.parent,
        "verdicts": list(step.verdicts),
    }


def _decode_step(row: Line) -> dict[str, Any]:
    return {**row, "candidates": _decode_candidates(row["candidates"])}


def _encode_candidates(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    return [
        {
            "answer": c.answer,
            "draw": c.completion.draw,
            "finish_reason": c.completion.finish_reason.value,
            "num_completion_tokens": c.completion.num_completion_tokens,
        }
        for c in candidates
    ]


def _decode_candidates(rows: Sequence[Line]) -> list[dict[str, Any]]:
    return [
        {"answer": row["answer"], "completion": {**row, "text": "", "num_prompt_tokens": 0}} for row in rows
    ]


def _encode_votes(votes: Votes) -> dict[str, Any]:
    return {
        "counts": [list(count) for count in votes.counts],
        "num_abstained": votes.num_abstained,
        "labels": list(votes.labels),
    }


def _encode_lookahead(lookahead: Lookahead) -> dict[str, Any]:
    return {
        "attempt": lookahead.attempt,
        "votes": _encode_votes(lookahead.votes),
        "entropy_bits": lookahead.entropy_bits,
        "num_dropped": lookahead.num_dropped,
    }
