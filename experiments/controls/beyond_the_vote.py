"""Whether more than a vote is at work: python experiments/controls/beyond_the_vote.py [--outputs FOLDER].

From the stored cells of `controls` and, for the vote of many samples, of `nano_tables` (seed 0 of both):
arm by arm, on how many questions the first idea was tagged 0, and on how many no idea was tagged 1. Then
`max_entropy` against the base's votes, and these votes without the answers that its ideas tagged 0 gave: what
a vote could gain from the same tags.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from icpo.lab.scripts.command_line import ends_in_a_line
from icpo.metrics import Estimate, QuestionScore, mean_at_k, paired_difference
from icpo.metrics.per_question import majority_at_k
from icpo.report.cells import arm_name
from icpo.report.text import markdown_table
from icpo.store import load_results, load_scores, read_metrics, run_cells
from icpo.types import Attempt, QuestionResult

Key = tuple[str, int]


@ends_in_a_line
def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    outputs = parser.parse_args().outputs
    cells = {name: list(run_cells(outputs, name)) for name in ("controls", "nano_tables")}
    if not cells["controls"]:
        raise SystemExit(
            f"No cells under {outputs / 'controls'}. Run python -m icpo.run +exp=controls first."
        )
    arms: dict[str, dict[Key, QuestionResult]] = {}
    for cell in cells["controls"]:
        if (metrics := read_metrics(cell) or {}).get("method") == "me_icpo":
            arms.setdefault(arm_name(metrics), {}).update(results_of(cell))
    sys.stdout.write(markdown_table(["ideas", "questions", "first tagged 0", "none tagged 1"], counts(arms)))
    ours = having(cells["controls"], selector="max_entropy")
    base = having(cells["controls"], method="direct", prompt="plain")
    many = having(cells["nano_tables"], method="self_consistency")
    sys.stdout.write(
        "\n\n" + markdown_table(["max_entropy, points", "difference"], votes(ours, base, many)) + "\n"
    )


def counts(arms: Mapping[str, Mapping[Key, QuestionResult]]) -> Iterator[list[str]]:
    """A line an arm: questions, those whose first idea was tagged 0, those without an idea tagged 1."""
    for label, rows in arms.items():
        tags = [[idea.reward for idea in kept(row)] for row in rows.values()]
        tags = [row for row in tags if row]
        yield [label, str(len(tags)), str(sum(t[0] == 0 for t in tags)), str(sum(1 not in t for t in tags))]


def votes(ours: Sequence[Path], base: Sequence[Path], many: Sequence[Path]) -> Iterator[list[str]]:
    """Differences of the arm to votes of the base, whole and without what the arm's tags of 0 rule out."""
    scores, results = scores_of(ours), {k: row for cell in ours for k, row in results_of(cell).items()}
    finals = {key: score.last.labels for key, score in scores_of(base).items()}
    golds = {key: score.gold for key, score in scores.items()}
    samples = {
        key: [c.answer for event in row.trace for c in event.candidates]
        for cell in many
        for key, row in results_of(cell).items()
    }
    told_off = {key: {a.candidate.answer for a in kept(row) if a.reward == 0} for key, row in results.items()}
    for name, answers in (("16", finals), ("241", samples)):
        whole = {key: share_right(answers[key], golds[key], ()) for key in scores if key in answers}
        if not whole:
            continue
        rest = {key: share_right(answers[key], golds[key], told_off[key]) for key in whole}
        for metric, values in (("Mean@k", mean_at_k), ("Maj@k", majority_at_k)):
            arm = {key: values(score.last) for key, score in scores.items()}
            yield [f"{metric}, minus a vote of {name} answers", _shown(paired_difference(arm, whole))]
        yield [
            f"that vote without them, minus the whole vote of {name}",
            _shown(paired_difference(rest, whole)),
        ]


def share_right(answers: Iterable[str | None], gold: str, without: Iterable[str]) -> float:
    """Whether the most frequent answer is right, some left out; ties in equal parts, 0 if none is left."""
    left_out = {None, *without}
    found = Counter(answer for answer in answers if answer not in left_out)
    most = max(found.values(), default=0)
    winners = [answer for answer, n in found.items() if n == most]
    return winners.count(gold) / len(winners) if winners else 0.0


def kept(result: QuestionResult) -> list[Attempt]:
    """The attempts that rounds kept."""
    return [round_.attempts[i] for round_ in result.rounds for i in round_.kept]


def having(cells: Iterable[Path], **facts: str) -> list[Path]:
    """The measured cells of which these facts hold."""
    measured = ((cell, read_metrics(cell) or {}) for cell in cells)
    return [cell for cell, metrics in measured if all(metrics.get(k) == v for k, v in facts.items())]


def results_of(cell: Path) -> dict[Key, QuestionResult]:
    """The results of seed 0."""
    return {result.key: result for result in load_results(cell) if result.seed == 0}


def scores_of(cells: Iterable[Path]) -> dict[Key, QuestionScore]:
    """The scores of seed 0."""
    found = [score for cell in cells for score in load_scores(cell)]
    return {score.key: score for score in found if score.seed == 0}


def _shown(value: Estimate) -> str:
    return f"{100 * value.value:+.1f} [{100 * value.low:+.1f}, {100 * value.high:+.1f}]"


if __name__ == "__main__":
    main()
