"""A cell's questions, and cells compared question by question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from icpo.metrics import PER_QUESTION, Estimate, sign_test
from icpo.report.cells import Cell
from icpo.report.dashboard import charts
from icpo.report.dashboard.blocks import Block, address, cards, chart, choice, heading, note, table
from icpo.report.differences import compare_arms
from icpo.report.tables import METRICS, TextTable
from icpo.report.text import METRIC_NAMES, interval, percent, whole
from icpo.safe_text import shortened
from icpo.types import QuestionResult, QuestionScore, Round

LONGEST_TEXT = 160


def cell_page(
    path: str, results: Sequence[QuestionResult], scores: Sequence[QuestionScore], num_pages: int
) -> list[Block]:
    """The questions of a cell; the first `num_pages` have pages."""
    by_key = {score.key: score for score in scores}
    grouped: dict[str, list[QuestionResult]] = {}
    for result in results:
        grouped.setdefault(result.question.question_id, []).append(result)
    rows = [_question_row(own, [by_key.get(result.key) for result in own]) for own in grouped.values()]
    links = {
        (i, 0): address("question", cell=path, question=question)
        for i, question in enumerate([*grouped][:num_pages])
    }
    facts = ("question", "text", "gold", "majority answer", "entropy kept, by round (bits)")
    header = (*facts, "Mean@k", "Accuracy", "Maj@k", "tokens")
    num_seeds = max((len(own) for own in grouped.values()), default=0)
    return [
        heading(path, 1),
        note(f"Averages over seeds ({num_seeds}); a question's page shows one seed, round by round."),
        *table(TextTable(header, tuple(rows), 5), "questions", links=links),
    ]


def pair_page(
    a: Cell, b: Cell, names: tuple[str, str], texts: Mapping[str, str], num_pages: Sequence[int]
) -> list[Block]:
    """Cell a minus cell b, one metric at a time.

    `names` are their paths, `texts` the questions'. The first `num_pages` questions of each have pages.
    Raises ValueError where they cannot be compared, as two models of one name.
    """
    models = {(arm.key.backbone, arm.key.setting) for arm in (a.last, b.last)}
    found = compare_arms(a.last, b.last, across_models=len(models) > 1).differences
    options = [
        (name, METRIC_NAMES[name], _pair_metric(a, b, names, texts, num_pages, name, found[name]))
        for name in METRICS
    ]
    return [choice("metric", "metric", options)]


def _pair_metric(
    a: Cell,
    b: Cell,
    names: tuple[str, str],
    texts: Mapping[str, str],
    num_pages: Sequence[int],
    metric: str,
    found: Estimate,
) -> list[Block]:
    pairs = list(_pairs(a.last.scores, b.last.scores, metric))
    gained, lost = (sum(sign * (x - y) > 1e-9 for _, _, x, y in pairs) for sign in (1, -1))
    p = sign_test(gained, lost)
    ranked = sorted(pairs, key=lambda pair: pair[3] - pair[2])
    bars = [
        {"rank": i, "question": q, "value": round(100 * (x - y), 1), "shown": percent(x - y, signed=True)}
        for i, (q, _, x, y) in enumerate(ranked, start=1)
    ]
    rows, links = [], {}
    majorities = [_majorities(cell.last.scores) for cell in (a, b)]
    places = [
        {*list(dict.fromkeys(score.question_id for score in cell.last.scores))[:num]}
        for cell, num in zip((a, b), num_pages, strict=True)
    ]
    for i, (question, gold, x, y) in enumerate(pairs):
        change = "gained" if x - y > 1e-9 else "lost" if y - x > 1e-9 else "same"
        answers = [answers.get(question, "") for answers in majorities]
        numbers = percent(x), percent(y), percent(x - y, signed=True)
        rows.append(
            (question, shortened(texts.get(question, ""), LONGEST_TEXT), gold, *answers, change, *numbers)
        )
        for column, name, held in zip((6, 7), names, places, strict=True):
            if question in held:
                links[i, column] = address("question", cell=name, question=question)
    shown = TextTable(
        ("question", "text", "gold", "A's majority", "B's majority", "change", "A", "B", "A - B"),
        tuple(rows),
        6,
    )
    return [
        cards(
            {
                "A minus B": f"{percent(found.value, signed=True)} points",
                "95% interval, paired": interval(asdict(found), signed=True),
                "A gained": f"{gained} questions",
                "A lost": f"{lost} questions",
                "unchanged": f"{len(pairs) - gained - lost} questions",
                "sign test": f"p = {p:.1e}" if p < 0.001 else f"p = {p:.3f}",
            }
        ),
        chart(charts.ranked(bars, "A minus B (points)"), "by-question"),
        *table(shown, "pairs", links=links, words=("gained", "lost")),
    ]


def _pairs(
    a: Sequence[QuestionScore], b: Sequence[QuestionScore], metric: str
) -> Iterator[tuple[str, str, float, float]]:
    """Question, gold and both means over the seeds that both have."""
    others = {score.key: PER_QUESTION[metric](score.last) for score in b}
    grouped: dict[str, list[tuple[str, float, float]]] = {}
    for score in a:
        if score.key in others:
            own = PER_QUESTION[metric](score.last)
            grouped.setdefault(score.question_id, []).append((score.gold, own, others[score.key]))
    for question, found in grouped.items():
        yield question, found[0][0], *(sum(pair[i] for pair in found) / len(found) for i in (1, 2))  # type: ignore[misc]


def _majorities(scores: Sequence[QuestionScore]) -> dict[str, str]:
    """The majority answer of each question under its first seed."""
    found: dict[str, str] = {}
    for score in scores:
        found.setdefault(score.question_id, majority(score))
    return found


def majority(score: QuestionScore | None) -> str:
    """The answer with the most votes; "" where nobody answered."""
    answers = [label for label in score.last.labels if label] if score else []
    return max(answers, key=answers.count) if answers else ""


def _question_row(
    results: Sequence[QuestionResult], scores: Sequence[QuestionScore | None]
) -> tuple[str, ...]:
    graded = [score for score in scores if score is not None]
    means = [
        percent(sum(PER_QUESTION[name](score.last) for score in graded) / len(graded)) if graded else ""
        for name in ("mean_at_k", "accuracy", "majority_at_k")
    ]
    bits = [_kept_bits(step) for step in results[0].trace if isinstance(step, Round)]
    return (
        results[0].question.question_id,
        shortened(results[0].question.text, LONGEST_TEXT),
        graded[0].gold if graded else "",
        majority(scores[0]),
        " → ".join(bits),
        *means,
        whole(sum(result.usage.generated_tokens for result in results) / len(results)),
    )


def _kept_bits(round_: Round) -> str:
    bits = [ahead.entropy_bits for ahead in round_.lookaheads if ahead.attempt in round_.kept]
    return f"{sum(bits) / len(bits):.2f}" if bits else "-"


def texts_of(results: Sequence[QuestionResult]) -> dict[str, str]:
    """The text of each question."""
    return {result.question.question_id: result.question.text for result in results}
