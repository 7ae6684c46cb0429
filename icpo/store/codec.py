"""Completions and results to JSON and back. All JSON is ASCII, so no text can break a line or an encoding."""

import bz2
import json
import lzma
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from icpo.types import (
    Batches,
    Candidate,
    Completion,
    FinishReason,
    Lookahead,
    QuestionResult,
    Round,
    Step,
    Votes,
)

_STRONG_PACKERS = (
    bz2.compress,
    lambda data: zlib.compress(data, 9),
    lambda data: lzma.compress(data, check=lzma.CHECK_NONE, preset=9 | lzma.PRESET_EXTREME),
)
_UNPACKERS = ((b"x", zlib.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ", lzma.decompress))


def pack_batches(batches: Batches) -> bytes:
    """Completions as compressed JSON; where they are drawn from (`draw`) is left out."""
    rows = [
        [
            [c.text, c.finish_reason.value, c.num_prompt_tokens, c.num_completion_tokens, c.num_cached_tokens]
            for c in batch
        ]
        for batch in batches
    ]
    return pack(json.dumps(rows, separators=(",", ":")).encode())


def unpack_batches(key: str, packed: bytes) -> Batches:
    """The completions of the record `key`, each with its draw `key/i/j`: batch i, sample j."""
    return [
        [
            Completion(text, prompt, generated, FinishReason(reason), cached, draw=f"{key}/{i}/{j}")
            for j, (text, reason, prompt, generated, cached) in enumerate(batch)
        ]
        for i, batch in enumerate(json.loads(unpack(packed)))
    ]


def pack(data: bytes, *, strong: bool = False) -> bytes:
    """`data` packed by zlib, or, if `strong`, by the packer that makes it shortest, however slow."""
    return min((packer(data) for packer in _STRONG_PACKERS), key=len) if strong else zlib.compress(data, 6)


def unpack(packed: bytes) -> bytes:
    """What `pack` packed; each packer's output begins in its own way."""
    return next(unpacker for magic, unpacker in _UNPACKERS if packed.startswith(magic))(packed)


def result_row(result: QuestionResult) -> dict[str, Any]:
    """A result as one line of results.jsonl (docs/reliability.md); completions' texts stay in the journal."""
    return {
        "question_id": result.question.question_id,
        "seed": result.seed,
        "kind": result.question.kind.value,
        "text": result.question.text,
        "usage": asdict(result.usage),
        "usage_at_finals": [asdict(usage) for usage in result.usage_at_finals],
        "dropped_at_finals": list(result.dropped_at_finals),
        "trace": [_round_row(step) if isinstance(step, Round) else _step_row(step) for step in result.trace],
        "finals": [[rounds_done, _candidate_rows(finals)] for rounds_done, finals in result.finals],
    }


def _round_row(round_: Round) -> dict[str, Any]:
    rewards = round_.rewards
    return {
        "type": "round",
        "candidates": _candidate_rows(round_.candidates),
        "votes": _votes_row(round_.votes),
        "rewards": {"tags": list(rewards.tags), "winner": rewards.winner, "num_tied": rewards.num_tied},
        "eligible": list(round_.eligible),
        "attempts": [{"reward": a.reward, "summary": a.summary} for a in round_.attempts],
        "lookaheads": [_lookahead_row(lookahead) for lookahead in round_.lookaheads],
        "kept": list(round_.kept),
        "num_dropped": round_.num_dropped,
    }


def _step_row(step: Step) -> dict[str, Any]:
    return {
        "type": "step",
        "name": step.name,
        "candidates": _candidate_rows(step.candidates),
        "value": step.value,
        "parent": step.parent,
        "verdicts": list(step.verdicts),
    }


def _candidate_rows(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    return [
        {
            "answer": c.answer,
            "draw": c.completion.draw,
            "finish_reason": c.completion.finish_reason.value,
            "num_completion_tokens": c.completion.num_completion_tokens,
        }
        for c in candidates
    ]


def _votes_row(votes: Votes) -> dict[str, Any]:
    return {
        "counts": [list(count) for count in votes.counts],
        "num_abstained": votes.num_abstained,
        "labels": list(votes.labels),
    }


def _lookahead_row(lookahead: Lookahead) -> dict[str, Any]:
    return {
        "attempt": lookahead.attempt,
        "votes": _votes_row(lookahead.votes),
        "entropy_bits": lookahead.entropy_bits,
        "num_dropped": lookahead.num_dropped,
    }
