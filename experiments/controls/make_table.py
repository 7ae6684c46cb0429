"""What each control changes: python experiments/controls/make_table.py [RUN_NAME] [--outputs FOLDER].

Reads stored cells of one backbone; writes RUN/report/controls.{md,csv,tex}: a table a level and one over all
levels, its rows the arms. Differences are paired by question and seed; intervals are 95%, clustered by
question.
"""

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from icpo.errors import RecordsError
from icpo.evaluation.stored_rules import stored_rules
from icpo.grading import Grader
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import Estimate, estimate, mean_at_k, paired_difference
from icpo.metrics.compare import values_of
from icpo.metrics.copying import Tally, copy_share, tag_hits
from icpo.report.cells import arm_name
from icpo.report.text import cell_text, markdown_table, percent, tabular
from icpo.store import load_results, load_scores, read_metrics, run_cells
from icpo.types import QuestionResult, QuestionScore, Votes

POOL = "all levels"
ORDER = (
    "base", "full", "majority_hint", "answer_only", "no_answer", "majority_random", "max_entropy", "shuffled",
    "inverted", "constant", "foreign", "repeated_error", "one_candidate", "one_round",
)  # fmt: skip
# Controls without rounds: which answers of the base's vote they were shown as right.
HINTS: Mapping[str, Callable[[Votes], Sequence[str]]] = {
    "majority_hint": lambda votes: votes.winners,
    "repeated_error": lambda votes: tuple(label for label, _ in votes.counts[1:2]),
}
# The runner-up is sometimes right, and there is none where all samples agree: rows of their own.
PARTS = ("repeated_error: a wrong answer", "repeated_error: the right answer", "repeated_error: no idea")
NOTE = (
    "In percent; differences in points. `copied`: finals that equal the answer most often tagged 1 in the "
    "prompt's ideas (the hint, the repeated error). `true tags`: tags that the gold answers confirm. "
    "`tokens`: generated, a question. `repeated_error` is told apart by its runner-up: wrong, right, or none "
    "where all samples agree; a part's differences are over its own questions."
)
Values = Mapping[tuple[Hashable, int], float]
COLUMNS = ("mean", "copied", "tags", "tokens")  # of an Outcome: by (question, seed)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One arm on one level, by (question, seed); `copied` and `tags` hold those that have any.

    `parts` names the part of PARTS that each belongs to, where the arm is told apart by what it showed.
    """

    level: str
    arm: str
    backbone: str
    k: int
    mean: Values
    copied: Values
    tags: Mapping[tuple[Hashable, int], tuple[int, int]]
    tokens: Values
    parts: Mapping[tuple[Hashable, int], str] = field(default_factory=dict)


@ends_in_a_line
def main() -> None:
    """Command line."""
    args = run_parser(__doc__, "controls").parse_args()
    report = args.outputs / args.run_name / "report"
    outcomes = with_parts(read_outcomes(args.outputs, args.run_name))
    rows = list(rows_of([*outcomes, *pooled(outcomes)]))
    report.mkdir(exist_ok=True)
    pd.DataFrame(map(flat, rows)).to_csv(report / "controls.csv", index=False, lineterminator="\n")
    text = "\n\n".join([NOTE, *tables(rows, markdown_table)]) + "\n"
    (report / "controls.md").write_text(text, encoding="utf-8")
    (report / "controls.tex").write_text("\n".join(tables(rows, tabular)), encoding="utf-8")
    sys.stdout.write("\n".join([text, *(str(report / f"controls.{x}") for x in ("md", "csv", "tex")), ""]))


def read_outcomes(outputs: Path, run_name: str) -> list[Outcome]:
    """The run's measured cells. Raises RecordsError where there are none, or of several backbones."""
    found = [o for cell in run_cells(outputs, run_name) if (o := outcome_of(cell)) is not None]
    backbones = sorted({o.backbone for o in found})
    if len(backbones) != 1:
        raise RecordsError(
            f"The table is of one backbone, but {outputs / run_name} has measured cells of "
            f"{', '.join(backbones) or 'none'}. Run python -m icpo.run +exp=controls, each backbone under a "
            "run_name of its own."
        )
    return found


def outcome_of(cell: Path) -> Outcome | None:
    """What a measured cell brought; None for one that is not done."""
    metrics = read_metrics(cell) or {}
    if "mean_at_k" not in metrics:
        return None
    level = str(metrics["benchmark"])
    scores = {score.key: score for score in load_scores(cell)}
    keyed = [
        (((level, result.question.question_id), result.seed), result, scores[result.key])
        for result in load_results(cell)
        if result.key in scores
    ]
    with Grader(stored_rules(cell)) as grader:
        copied = {key: copied_share(one, score, metrics["method"], grader.tally) for key, one, score in keyed}
        split = keyed if metrics["method"] == "repeated_error" else []
        parts = {key: part_of(one, score.gold, grader.tally) for key, one, score in split}
    return Outcome(
        level=level,
        arm=arm_name(metrics),
        backbone=str(metrics["backbone"]),
        k=int(metrics["k"]),
        mean=values_of(list(scores.values()), mean_at_k, level),
        copied={key: share for key, share in copied.items() if share is not None},
        tags={key: hits for key, one, score in keyed if (hits := tag_hits(one, score))[1]},
        tokens={key: float(one.usage.generated_tokens) for key, one, _ in keyed},
        parts=parts,
    )


def copied_share(result: QuestionResult, score: QuestionScore, method: str, tally: Tally) -> float | None:
    """Share of the finals that equal what the prompt recommends; None where it recommends nothing."""
    if method not in HINTS:
        return copy_share(result, score, tally)
    shown = shown_answers(result, method, tally)
    labels = tally([*shown, *(label or None for label in score.last.labels)], result.question.kind).labels
    finals = labels[len(shown) :]
    return sum(label in labels[: len(shown)] for label in finals) / len(finals) if shown else None


def shown_answers(result: QuestionResult, method: str, tally: Tally) -> Sequence[str]:
    """What a control without rounds shows as right: classes of the base's vote, several where they tie."""
    base = [candidate.answer for candidate in result.trace[0].candidates]
    return HINTS[method](tally(base, result.question.kind))


def part_of(result: QuestionResult, gold: str, tally: Tally) -> str:
    """The one of PARTS that a question of `repeated_error` belongs to."""
    shown = shown_answers(result, "repeated_error", tally)
    of_gold, *of_shown = tally([gold, *shown], result.question.kind).labels
    wrong, right, nothing = PARTS
    return nothing if not of_shown else right if of_gold in of_shown else wrong


def with_parts(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Behind each outcome that has parts, each part as an arm of its own."""
    return [
        part
        for whole in outcomes
        for part in (whole, *(_part(whole, name) for name in PARTS if name in whole.parts.values()))
    ]


def _part(whole: Outcome, name: str) -> Outcome:
    held = {key for key, part in whole.parts.items() if part == name}
    values = (
        {key: value for key, value in getattr(whole, column).items() if key in held} for column in COLUMNS
    )
    return replace(whole, arm=name, parts={}, **dict(zip(COLUMNS, values, strict=True)))


def pooled(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """Each arm over all levels that it was run on, every question weighing the same."""
    if len({o.level for o in outcomes}) < 2:
        return
    for arm in dict.fromkeys(o.arm for o in outcomes):
        own = [o for o in outcomes if o.arm == arm]
        yield Outcome(
            POOL,
            arm,
            own[0].backbone,
            own[0].k,
            *({k: v for o in own for k, v in getattr(o, n).items()} for n in COLUMNS),
        )


def rows_of(outcomes: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    """One row an arm and level, in the order of the README; estimates are None where nothing is known."""
    for level in dict.fromkeys(o.level for o in outcomes):
        arms = {o.arm: o for o in outcomes if o.level == level}
        for arm in sorted(arms, key=_place):
            own = arms[arm]
            true, total = (sum(hits[i] for hits in own.tags.values()) for i in (0, 1))
            yield {
                "level": level,
                "arm": arm,
                "k": own.k,
                "pairs": len(own.mean),
                "mean": estimate(own.mean),
                "minus_base": _gained(own, arms.get("base")),
                "minus_full": _gained(own, arms.get("full")),
                "copied": estimate(own.copied) if own.copied else None,
                "true_tags": true / total if total else None,
                "tokens": sum(own.tokens.values()) / len(own.tokens),
            }


def _place(arm: str) -> tuple[int, int]:
    whole = arm.partition(":")[0]
    return ORDER.index(whole) if whole in ORDER else len(ORDER), 1 + PARTS.index(arm) if arm in PARTS else 0


def _gained(own: Outcome, other: Outcome | None) -> Estimate | None:
    if other is None or other is own or not own.mean.keys() & other.mean.keys():
        return None
    return paired_difference(own.mean, other.mean)


def tables(rows: Sequence[Mapping[str, Any]], layout: Any) -> Iterator[str]:
    """One table a level, in Markdown or LaTeX as `layout` makes it; headed by the level."""
    for level in dict.fromkeys(row["level"] for row in rows):
        own = [row for row in rows if row["level"] == level]
        header = [
            level,
            f"Mean@{own[0]['k']}",
            "minus base",
            "minus full",
            "copied",
            "true tags",
            "tokens",
            "pairs",
        ]
        yield layout(header, [_shown(row) for row in own])


def _shown(row: Mapping[str, Any]) -> list[str]:
    return [
        row["arm"],
        _estimate_text(row["mean"]),
        _estimate_text(row["minus_base"], signed=True),
        _estimate_text(row["minus_full"], signed=True),
        _estimate_text(row["copied"]),
        "" if row["true_tags"] is None else percent(row["true_tags"]),
        f"{row['tokens']:,.0f}",
        str(row["pairs"]),
    ]


def _estimate_text(found: Estimate | None, signed: bool = False) -> str:
    return "" if found is None else cell_text(asdict(found), signed)


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row for scripts: estimates as value, low and high; fractions."""
    values: dict[str, Any] = {}
    for name, value in row.items():
        if name in ("mean", "minus_base", "minus_full", "copied"):
            parts = (None,) * 3 if value is None else (value.value, value.low, value.high)
            values |= dict(zip((name, f"{name}_low", f"{name}_high"), parts, strict=True))
        else:
            values[name] = value
    return values


if __name__ == "__main__":
    main()
