"""How a cell's questions go from round to round."""

from collections.abc import Mapping, Sequence
from typing import Any

from icpo.types import QuestionResult, QuestionScore, Round


def by_round(pairs: Sequence[tuple[QuestionScore, QuestionResult]]) -> list[dict[str, Any]]:
    """Means per round over the questions and seeds that reached it.

    Their number is `num_reached`. With `early_stop` these become fewer and are those that had not agreed, so
    later rounds are of harder questions.

    `mean_at_k` is the share of the round's candidates that are correct: they are sampled with the history
    that the rounds before left, so round 1 shows an empty history. `entropy_bits` is the mean over all
    look-aheads and `kept_entropy_bits` that over the kept attempts; None where none was sampled. `num_empty`
    counts the questions and seeds in which the round kept nothing.
    """
    per_question = [
        [_summary(round_, graded.correct) for round_, graded in zip(result.rounds, score.rounds, strict=True)]
        for score, result in pairs
    ]
    num_rounds = max(map(len, per_question), default=0)
    return [
        {"round": t + 1, **_average([rounds[t] for rounds in per_question if len(rounds) > t])}
        for t in range(num_rounds)
    ]


def _summary(round_: Round, correct: Sequence[bool | None]) -> dict[str, float | None]:
    bits = {ahead.attempt: ahead.entropy_bits for ahead in round_.lookaheads}
    kept = [bits[i] for i in round_.kept if i in bits]
    return {
        "mean_at_k": correct.count(True) / len(correct),
        "entropy_bits": _mean(list(bits.values())),
        "kept_entropy_bits": _mean(kept),
        "num_empty": float(not round_.kept),
    }


def _average(summaries: Sequence[Mapping[str, float | None]]) -> dict[str, float | int | None]:
    means = {
        name: _mean([s[name] for s in summaries])
        for name in ("mean_at_k", "entropy_bits", "kept_entropy_bits")
    }
    num_empty = sum(s["num_empty"] == 1 for s in summaries)
    return {**means, "num_empty": num_empty, "num_reached": len(summaries)}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
