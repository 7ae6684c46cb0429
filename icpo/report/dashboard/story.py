"""The story of one question and seed, round by round."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from icpo.metrics import GradedFinals, QuestionScore
from icpo.prompts import Book
from icpo.report.dashboard.prompt_parts import Part, history_of, plain_parts, solve_parts
from icpo.report.text import percent, whole
from icpo.types import AnswerKind, Candidate, Question, QuestionResult, Round, Step

Texts = Mapping[str, str]  # completions by draw


def draws_of(result: QuestionResult) -> list[str]:
    """The draws of candidates and final samples, whose texts are shown."""
    shown = [c for step in result.trace for c in step.candidates]
    shown += [c for _, finals in result.finals for c in finals]
    return [candidate.completion.draw for candidate in shown if candidate.completion.draw]


def story(
    result: QuestionResult, score: QuestionScore | None, texts: Texts, book: Book | None, prompt: str | None
) -> dict[str, Any]:
    """One seed of a question, as its page reads it."""
    rounds = [step for step in result.trace if isinstance(step, Round)]
    graded = dict(score.finals) if score else {}
    dropped = result.dropped_at_finals or (0,) * len(result.finals)
    tokens, requests = whole(result.usage.generated_tokens), whole(result.usage.num_requests)
    return {
        "usage": f"{tokens} generated tokens in {requests} requests",
        "rounds": [
            _round(
                round_,
                score.rounds[t].correct if score and t < len(score.rounds) else (),
                texts,
                _solve(book, result.question, rounds[:t], round_.num_dropped),
            )
            for t, round_ in enumerate(rounds)
        ],
        "steps": [
            {"name": step.name, "value": step.value, "parent": step.parent}
            | {"candidates": [_candidate(candidate, texts) for candidate in step.candidates]}
            for step in result.trace
            if isinstance(step, Step)
        ],
        "finals": [
            _finals(
                done,
                finals,
                graded.get(done),
                texts,
                _final_prompt(book, result.question, rounds[:done], prompt, num_dropped),
            )
            for (done, finals), num_dropped in zip(result.finals, dropped, strict=True)
        ],
    }


def _round(round_: Round, correct: Sequence[bool | None], texts: Texts, prompt: list[Part]) -> dict[str, Any]:
    votes = round_.votes
    return {
        "prompt": prompt,
        "candidates": [
            _candidate(c, texts)
            | {
                "label": _at(votes.labels, i, c.answer),
                "reward": _at(round_.rewards.tags, i, None),
                "correct": _at(correct, i, None),
            }
            for i, c in enumerate(round_.candidates)
        ],
        "winner": round_.rewards.winner,
        "num_tied": round_.rewards.num_tied,
        "attempts": [
            {"candidate": candidate, "reward": attempt.reward, "summary": attempt.summary}
            for candidate, attempt in zip(round_.eligible, round_.attempts, strict=True)
        ],
        "lookaheads": [
            {
                "attempt": ahead.attempt,
                "counts": ahead.votes.counts,
                "abstained": ahead.votes.num_abstained,
                "bits": f"{ahead.entropy_bits:.2f}",
            }
            for ahead in round_.lookaheads
        ],
        "kept": round_.kept,
        "why": _why(round_),
        "num_dropped": round_.num_dropped,
    }


def _why(round_: Round) -> str:
    """Why a round kept what it kept, as far as its numbers say."""
    if not round_.attempts:
        return "No candidate gave an answer, so there was nothing to summarise and the round kept nothing."
    if not round_.kept:
        return "The round kept nothing."
    names = ", ".join(f"attempt {i + 1}" for i in round_.kept)
    bits = {ahead.attempt: ahead.entropy_bits for ahead in round_.lookaheads}
    if not bits:
        return f"Kept: {names}. No look-ahead was sampled."
    least = min(bits.values())
    if bits.get(round_.kept[0]) != least:
        return f"Kept: {names}, not the attempt of least entropy."
    ties = Counter(bits.values())[least]
    tied = f"; {ties} attempts share that value and the first was taken" if ties > 1 else ""
    return (
        f"Kept: {names}, since the look-ahead answers after it agree the most ({least:.2f} bits, the "
        f"least of {len(bits)}){tied}."
    )


def _finals(
    done: int, finals: Sequence[Candidate], graded: GradedFinals | None, texts: Texts, prompt: list[Part]
) -> dict[str, Any]:
    candidates = [
        _candidate(candidate, texts)
        | {
            "label": _at(graded.labels, i, candidate.answer) if graded else candidate.answer,
            "outcome": _at(graded.outcomes, i, None) if graded else None,
        }
        for i, candidate in enumerate(finals)
    ]
    title = f"{len(finals)} final samples after {done} rounds"
    if graded:  # of an extension that was interrupted, only some are graded yet
        num_graded = len(graded.outcomes)
        share = percent(graded.num_correct / num_graded)
        whose = "of them" if num_graded == len(finals) else f"of the {num_graded} that are graded"
        title += f", {graded.num_correct} {whose} correct ({share}%)"
    title += "."
    return {"after": done, "title": title, "prompt": prompt, "candidates": candidates}


def _candidate(candidate: Candidate, texts: Texts) -> dict[str, Any]:
    completion = candidate.completion
    return {
        "label": candidate.answer,
        "text": texts.get(completion.draw),
        "end": f"{completion.num_completion_tokens} tokens, ended by {completion.finish_reason.value}",
    }


def _at(values: Sequence[Any], i: int, default: Any) -> Any:
    return values[i] if i < len(values) else default


def _solve(book: Book | None, question: Question, rounds: Sequence[Round], dropped: int) -> list[Part]:
    """The prompt after these rounds, without the oldest attempts that had to be left out."""
    return [] if book is None else solve_parts(book, question, history_of(rounds)[dropped:])


def _final_prompt(
    book: Book | None, question: Question, rounds: Sequence[Round], prompt: str | None, dropped: int
) -> list[Part]:
    """What the final samples were prompted with; `prompt` is set for the base alone."""
    is_plain = prompt == "plain" or (prompt == "authors" and question.kind is AnswerKind.NUMBER)
    if book is not None and is_plain:
        return plain_parts(book, question)
    return _solve(book, question, rounds, dropped)
