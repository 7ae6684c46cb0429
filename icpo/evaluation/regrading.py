"""Stored texts graded again: what a change of rules moves."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from icpo.errors import RecordsError
from icpo.evaluation.grade import grade_result
from icpo.evaluation.stored_rules import stored_rules
from icpo.grading import Grader
from icpo.metrics import measure_cell
from icpo.store import (
    CellRecords,
    Texts,
    load_results,
    load_scores,
    read_manifest,
    read_metrics,
    read_status,
    run_cells,
)
from icpo.types import Candidate, QuestionResult, QuestionScore, visible


def regrade_run(outputs: Path, run_name: str, *, write: bool, say: Callable[[str], None]) -> int:
    """Grade every cell again; log and count the changed verdicts.

    A cell that is not done is left as it is: an extension that was interrupted has results without grades.

    Raises RecordsError when there is no such run or its texts are gone.
    """
    cells = [folder for folder in run_cells(outputs, run_name) if load_scores(folder)]
    if not cells:
        raise RecordsError(
            f"There are no graded cells in {outputs / run_name}. Give the name of a run whose questions have "
            "gold answers."
        )
    return sum(_regrade_cell(folder, write, say) for folder in cells)


def _regrade_cell(folder: Path, write: bool, say: Callable[[str], None]) -> int:
    state = (read_status(folder) or {}).get("state", "done")
    if state != "done":
        say(f"{folder.name}: left as it is: {state}. Run its command again, which grades all of it.")
        return 0
    manifest = read_manifest(folder) or {}
    protocol = manifest["config"]["protocol"]
    backbone = manifest["config"]["backbone"]
    before = load_scores(folder)
    golds = {score.question_id: score.gold for score in before}
    with Grader(stored_rules(folder, say)) as grader:
        with Texts(folder) as texts:
            results = [_reread(one, texts, grader, backbone["reasoning_end"]) for one in load_results(folder)]
        after = [
            grade_result(one, golds[one.key[0]], grader, abstentions_vote=protocol["abstentions_vote"])
            for one in results
            if one.key[0] in golds
        ]
        after.sort(key=lambda score: (score.seed, score.question_id))
        moved = list(_moved(before, after))
        for line in moved:
            say(f"{folder.name}: {line}")
        say(f"{folder.name}: {len(moved)} of {sum(map(len, map(_verdicts, after)))} verdicts moved")
        if write and moved:
            metrics = {**(read_metrics(folder) or {}), **measure_cell(after, results, tally=grader.tally)}
            with CellRecords(
                folder,
                config=manifest["config"],
                config_digest=manifest["config_digest"],
                for_grades=True,
            ) as records:
                records.write_scores(after)
                records.write_metrics(metrics)
                records.mark("done", reason="graded again")
    return len(moved)


def _reread(
    result: QuestionResult, stored: Texts, grader: Grader, reasoning_end: str | None
) -> QuestionResult:
    """The result with its finals' answers read again from their texts; the trace stays as it was."""
    texts = stored.of([final.completion.draw for _, finals in result.finals for final in finals])

    def reread(final: Candidate) -> Candidate:
        text = visible(texts[final.completion.draw], reasoning_end)
        return replace(final, answer=grader.extract(text, result.question.kind))

    return replace(result, finals=tuple((n, tuple(map(reread, finals))) for n, finals in result.finals))


def _moved(before: Iterable[QuestionScore], after: Iterable[QuestionScore]) -> Iterator[str]:
    was = {score.key: _verdicts(score) for score in before}
    for score in after:
        old = was.get(score.key, {})
        for where, verdict in _verdicts(score).items():
            if verdict != old.get(where):
                yield (
                    f"question {score.question_id!r}, seed {score.seed}, {where}: "
                    f"{old.get(where, 'not graded')} -> {verdict} (gold {score.gold!r})"
                )


def _verdicts(score: QuestionScore) -> dict[str, str]:
    """All that a score says: outcome and class of each final, and whether each candidate is right."""
    finals = {
        f"final {i} after {done} rounds": f"{outcome.value} (class {label!r})"
        for done, graded in score.finals
        for i, (outcome, label) in enumerate(zip(graded.outcomes, graded.labels, strict=True))
    }
    candidates = {
        f"candidate {i} of round {t}": str(correct)
        for t, graded in enumerate(score.rounds, start=1)
        for i, correct in enumerate(graded.correct)
    }
    return finals | candidates
