"""What the pages read of a cell: one entry of the index, and its questions in short."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from icpo.metrics import PER_QUESTION, Estimate, QuestionScore
from icpo.report.cells import Arm, Cell

COSTS = (
    "num_answers", "num_unparsed", "num_truncated", "num_timed_out", "num_requests", "prompt_tokens",
    "cached_prompt_tokens", "generated_tokens", "generated_by_purpose", "wall_seconds", "copy_rate",
    "tag_accuracy",
)  # fmt: skip


def index_entry(cell_id: str, run_name: str, cell: Cell, config: Mapping[str, Any]) -> dict[str, Any]:
    """A cell as the index shows it; `config` is flat, by dotted key."""
    entry: dict[str, Any] = {
        "id": cell_id,
        "run": run_name,
        "name": cell.folder.name,
        "state": cell.state,
        "reason": cell.reason,
        "config": dict(config),
    }
    if not cell.arms:
        numbers = {k: v for k, v in cell.metrics.items() if isinstance(v, int | float | bool)}
        return entry | {"numbers": numbers}
    last = max(cell.arms, key=lambda arm: arm.key.num_rounds or 0)
    return entry | {
        "settings": _settings(last),
        "metrics": numbers_of(last.estimates),
        "costs": {name: last.metrics[name] for name in COSTS if last.metrics.get(name) is not None},
        "by_round": last.metrics.get("by_round", []),
        "pass_by_k": last.metrics.get("pass_by_k", {}),
        "after": [
            {"num_rounds": arm.key.num_rounds, "metrics": numbers_of(arm.estimates)} for arm in cell.arms
        ],
    }


def numbers_of(estimates: Mapping[str, Estimate]) -> dict[str, list[float | None]]:
    """Each estimate as [value, low, high, std_over_seeds], rounded to what a page can show."""
    return {
        name: [None if x is None else round(x, 6) for x in (e.value, e.low, e.high, e.std_over_seeds)]
        for name, e in estimates.items()
    }


def question_rows(
    results: Sequence[Mapping[str, Any]], scores: Sequence[QuestionScore]
) -> list[dict[str, Any]]:
    """The questions of a cell in order of first appearance, each with its seeds in short."""
    by_key = {score.key: score for score in scores}
    rows: dict[str, dict[str, Any]] = {}
    for result in results:
        question_id = result["question_id"]
        score = by_key.get((question_id, result["seed"]))
        row = rows.setdefault(
            question_id,
            {"id": question_id, "text": result["text"], "gold": score.gold if score else None, "seeds": {}},
        )
        row["seeds"][str(result["seed"])] = _seed(result, score)
    return list(rows.values())


def flat(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a nested configuration by dotted key; lists are leaves."""
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from flat(value, f"{prefix}.{key}" if prefix else str(key))
    elif not prefix.endswith("_target_"):
        yield prefix, config


def _settings(arm: Arm) -> dict[str, Any]:
    key = arm.key
    names = ("backbone", "benchmark", "method", "reward", "selector", "protocol")
    numbers = ("num_rounds", "num_candidates", "num_lookaheads", "k")
    return (
        {name: getattr(key, name) for name in (*names, *numbers)}
        | {name: arm.metrics[name] for name in ("num_questions", "seeds")}
        | {"is_base": key.is_base}
    )


def _seed(result: Mapping[str, Any], score: QuestionScore | None) -> dict[str, Any]:
    """One seed: metrics, the majority answer, entropy after each round's kept attempts, tokens."""
    entropy_bits = [_kept_bits(entry) for entry in result["trace"] if entry["type"] == "round"]
    row = {"bits": entropy_bits, "tokens": result["usage"]["generated_tokens"]}
    if score is None:
        return row
    metrics = {name: round(metric(score.last), 6) for name, metric in PER_QUESTION.items()}
    answers = [label for label in score.last.labels if label is not None]
    return row | metrics | {"answer": max(answers, key=answers.count) if answers else None}


def _kept_bits(round_: Mapping[str, Any]) -> float | None:
    bits = [ahead["entropy_bits"] for ahead in round_["lookaheads"] if ahead["attempt"] in round_["kept"]]
    return round(sum(bits) / len(bits), 3) if bits else None
