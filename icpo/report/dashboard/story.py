"""The story of one question under one seed: what the page of a question shows, round by round."""

from collections.abc import Mapping, Sequence
from typing import Any

from icpo.metrics import GradedFinals, QuestionScore
from icpo.prompts import Book
from icpo.report.dashboard.prompt_parts import Part, history_of, plain_parts, solve_parts
from icpo.types import AnswerKind, Question

Result = Mapping[str, Any]  # one line of results.jsonl


def draws_of(result: Result) -> list[str]:
    """The draws whose texts the page shows: candidates and finals; look-aheads are shown as votes."""
    shown = [c for entry in result["trace"] for c in entry["candidates"]]
    shown += [c for _, finals in result["finals"] for c in finals]
    return [candidate["draw"] for candidate in shown if candidate["draw"]]


def story(
    result: Result,
    score: QuestionScore | None,
    texts: Mapping[str, str],
    book: Book | None,
    prompt: str | None,
) -> dict[str, Any]:
    """One seed of a question as a page reads it; `texts` are by draw, `prompt` is the base's choice."""
    question = Question(result["question_id"], result["text"], AnswerKind(result["kind"]))
    rounds = [entry for entry in result["trace"] if entry["type"] == "round"]
    graded = dict(score.finals) if score else {}
    dropped = result.get("dropped_at_finals") or [0] * len(result["finals"])
    return {
        "seed": result["seed"],
        "usage": result["usage"],
        "rounds": [
            _round(
                round_,
                score.rounds[t].correct if score and t < len(score.rounds) else None,
                texts,
                _solve(book, question, rounds[:t], round_["num_dropped"]),
            )
            for t, round_ in enumerate(rounds)
        ],
        "steps": [_step(entry, texts) for entry in result["trace"] if entry["type"] == "step"],
        "finals": [
            _finals(
                done,
                finals,
                graded.get(done),
                texts,
                _final_prompt(book, question, rounds[:done], prompt, num_dropped),
            )
            for (done, finals), num_dropped in zip(result["finals"], dropped, strict=True)
        ],
    }


def _round(
    round_: Mapping[str, Any],
    correct: Sequence[bool | None] | None,
    texts: Mapping[str, str],
    prompt: list[Part],
) -> dict[str, Any]:
    labels, tags = round_["votes"]["labels"], round_["rewards"]["tags"]
    return {
        "prompt": prompt,
        "candidates": [
            _candidate(c, texts)
            | {
                "label": labels[i] if i < len(labels) else c["answer"],
                "reward": tags[i] if i < len(tags) else None,
                "correct": correct[i] if correct and i < len(correct) else None,
            }
            for i, c in enumerate(round_["candidates"])
        ],
        "winner": round_["rewards"]["winner"],
        "num_tied": round_["rewards"]["num_tied"],
        "attempts": [
            {"candidate": candidate, "reward": attempt["reward"], "summary": attempt["summary"]}
            for candidate, attempt in zip(round_["eligible"], round_["attempts"], strict=True)
        ],
        "lookaheads": [
            {
                "attempt": ahead["attempt"],
                "counts": ahead["votes"]["counts"],
                "abstained": ahead["votes"]["num_abstained"],
                "bits": ahead["entropy_bits"],
            }
            for ahead in round_["lookaheads"]
        ],
        "kept": round_["kept"],
        "num_dropped": round_["num_dropped"],
    }


def _step(step: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    candidates = [_candidate(candidate, texts) for candidate in step["candidates"]]
    return {name: step[name] for name in ("name", "value", "parent")} | {"candidates": candidates}


def _finals(
    done: int,
    finals: Sequence[Mapping[str, Any]],
    graded: GradedFinals | None,
    texts: Mapping[str, str],
    prompt: list[Part],
) -> dict[str, Any]:
    candidates = [_candidate(candidate, texts) for candidate in finals]
    for i, candidate in enumerate(candidates):
        candidate["label"] = graded.labels[i] if graded else candidate["answer"]
        candidate["outcome"] = graded.outcomes[i].value if graded else None
    return {"after": done, "prompt": prompt, "candidates": candidates}


def _candidate(candidate: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    return {
        "answer": candidate["answer"],
        "text": texts.get(candidate["draw"]),
        "finish": candidate["finish_reason"],
        "tokens": candidate["num_completion_tokens"],
    }


def _solve(
    book: Book | None, question: Question, rounds: Sequence[Mapping[str, Any]], dropped: int
) -> list[Part]:
    """The prompt after these rounds, without the oldest attempts that had to be left out."""
    return [] if book is None else solve_parts(book, question, history_of(rounds)[dropped:])


def _final_prompt(
    book: Book | None,
    question: Question,
    rounds: Sequence[Mapping[str, Any]],
    prompt: str | None,
    dropped: int,
) -> list[Part]:
    """What the finals were drawn from; `prompt` is set for the base alone."""
    is_plain = prompt == "plain" or (prompt == "authors" and question.kind is AnswerKind.NUMBER)
    if book is not None and is_plain:
        return plain_parts(book, question)
    return _solve(book, question, rounds, dropped)
