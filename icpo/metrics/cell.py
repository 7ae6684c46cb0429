"""All metrics of one cell, as metrics.json holds them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from icpo.metrics.copying import Tally, copy_share, tag_hits
from icpo.metrics.curves import by_round
from icpo.metrics.per_question import pass_at_k, summarise
from icpo.types import GradedFinals, Outcome, Purpose, QuestionResult, QuestionScore, Step, Usage

_COSTS = ("num_requests", "num_sequences", "prompt_tokens", "cached_prompt_tokens", "generated_tokens")


def measure_cell(
    scores: Sequence[QuestionScore], results: Sequence[QuestionResult], *, tally: Tally
) -> dict[str, Any]:
    """Metrics of a cell from its grades and results.

    Both are matched by (question, seed). Scores are those of the finals after the most rounds;
    `by_num_rounds` holds the others where there are several. `copy_rate` and `tag_accuracy` are present when
    a history had a reward-1 attempt, or a round a tag; `num_verdicts` and `num_unread_verdicts` when the
    model judged its own solutions; `num_dropped`, by purpose, when attempts did not fit a prompt. `tally` is
    the partition that voted. Raises ValueError when there are no scores, KeyError for a score without a
    result.
    """
    if not scores:
        raise ValueError("a cell without graded questions has no metrics")
    by_key = {result.key: result for result in results}
    pairs = [(score, by_key[score.key]) for score in scores]
    return {
        "num_questions": len({s.question_id for s in scores}),
        "seeds": sorted({s.seed for s in scores}),
        "k": max(len(s.last.outcomes) for s in scores),
        **_summary({s.key: s.last for s in scores}),
        "pass_by_k": _pass_by_k(scores),
        **_counts([s.last for s in scores]),
        **_verdicts([result for _, result in pairs]),
        **_dropped([result for _, result in pairs]),
        **_costs([result for _, result in pairs]),
        **_copying(pairs, tally),
        **_by_num_rounds(pairs),
        "by_round": by_round(pairs),
    }


def _summary(finals: Mapping[tuple[str, int], GradedFinals]) -> dict[str, Any]:
    return {name: asdict(found) for name, found in summarise(finals).items()}


def _pass_by_k(scores: Sequence[QuestionScore]) -> dict[str, float]:
    """Unbiased pass@k at the powers of two up to the fewest finals of a question."""
    fewest = min(len(s.last.outcomes) for s in scores)
    ks = [2**i for i in range(fewest.bit_length()) if 2**i <= fewest]
    return {str(k): sum(pass_at_k(s.last, k) for s in scores) / len(scores) for k in ks}


def _counts(finals: Sequence[GradedFinals]) -> dict[str, int]:
    outcomes = Counter(outcome for graded in finals for outcome in graded.outcomes)
    return {
        "num_answers": outcomes.total(),
        "num_unparsed": outcomes[Outcome.UNPARSED],
        "num_truncated": outcomes[Outcome.TRUNCATED],
        "num_timed_out": outcomes[Outcome.TIMED_OUT],
        "num_skipped_pairs": sum(graded.num_skipped for graded in finals),
    }


def _verdicts(results: Sequence[QuestionResult]) -> dict[str, int]:
    """How many verdicts of the model's own decided, if any, and how many of them could not be read."""
    given = [
        v for result in results for step in result.trace if isinstance(step, Step) for v in step.verdicts
    ]
    return {"num_verdicts": len(given), "num_unread_verdicts": given.count(None)} if given else {}


def _dropped(results: Sequence[QuestionResult]) -> dict[str, dict[str, int]]:
    """Attempts that did not fit into prompts, if any; old results have the candidates' alone."""
    rounds = [round_ for result in results for round_ in result.rounds]
    found = {
        Purpose.CANDIDATE.value: sum(round_.num_dropped for round_ in rounds),
        Purpose.LOOKAHEAD.value: sum(ahead.num_dropped for round_ in rounds for ahead in round_.lookaheads),
        Purpose.FINAL.value: sum(sum(result.dropped_at_finals) for result in results),
    }
    return {"num_dropped": found} if any(found.values()) else {}


def _costs(results: Sequence[QuestionResult]) -> dict[str, Any]:
    """Sums over questions and seeds; a prompt is counted once a request."""
    usages = [result.usage for result in results]
    by_purpose: Counter[str] = Counter()
    for usage in usages:
        by_purpose.update(usage.generated_by_purpose)
    return {**_sums(usages), "generated_by_purpose": dict(by_purpose)}


def _copying(pairs: Sequence[tuple[QuestionScore, QuestionResult]], tally: Tally) -> dict[str, float]:
    shares = [share for s, r in pairs if (share := copy_share(r, s, tally)) is not None]
    hits = [tag_hits(r, s) for s, r in pairs]
    num_tags = sum(n for _, n in hits)
    found: dict[str, float] = {}
    if shares:
        found["copy_rate"] = sum(shares) / len(shares)
    if num_tags:
        found["tag_accuracy"] = sum(n for n, _ in hits) / num_tags
    return found


def _by_num_rounds(pairs: Sequence[tuple[QuestionScore, QuestionResult]]) -> dict[str, Any]:
    """Metrics and costs of a run ended after each number of rounds with final samples, if several."""
    rounds_done = sorted({n for s, _ in pairs for n, _ in s.finals})
    if len(rounds_done) < 2:
        return {}
    at = {n: {s.key: graded for s, _ in pairs for done, graded in s.finals if done == n} for n in rounds_done}
    return {"by_num_rounds": {str(n): _summary(at[n]) | _costs_at(n, pairs) for n in rounds_done}}


def _costs_at(num_rounds: int, pairs: Sequence[tuple[QuestionScore, QuestionResult]]) -> dict[str, int]:
    """Sums over questions and seeds of the cost of a run that ends after so many rounds, where stored."""
    usages = [
        usage
        for _, result in pairs
        if result.usage_at_finals
        for (done, _), usage in zip(result.finals, result.usage_at_finals, strict=True)
        if done == num_rounds
    ]
    return _sums(usages) if usages else {}


def _sums(usages: Sequence[Usage]) -> dict[str, int]:
    return {name: sum(getattr(usage, name) for usage in usages) for name in _COSTS}
