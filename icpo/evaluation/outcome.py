"""What becomes of results: stored at once, graded beside the sampling, shown, and measured at the end."""

import logging
from collections.abc import Iterable, Mapping, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

from icpo.benchmarks import LoadedBenchmark
from icpo.errors import ContractError
from icpo.evaluation.cell import Cell
from icpo.evaluation.grade import grade_line
from icpo.evaluation.progress import CellProgress
from icpo.grading import Grader
from icpo.metrics import QuestionScore, mean_at_k, measure_cell
from icpo.store import read_results, read_status
from icpo.types import QuestionResult

logger = logging.getLogger(__name__)

TABLE_COLUMNS = (
    "question",
    "seed",
    "gold",
    "answers",
    "share_correct",
    "entropy_bits_by_round",
    "generated_tokens",
)
Row = Mapping[str, Any]


class Outcomes:
    """Takes results as they finish; a context manager that shows progress while it is open."""

    def __init__(
        self,
        cell: Cell,
        loaded: LoadedBenchmark,
        num_seeds: int,
        grader: Grader,
        abstentions_vote: bool,
        base_mean_at_k: float | None,
    ) -> None:
        """Begins with what earlier sessions stored; `base_mean_at_k` is shown beside the running score."""
        self._cell = cell
        self._golds = loaded.golds
        self._grader = grader
        self._abstentions_vote = abstentions_vote
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="grading")
        self._rows: list[Row] = list(read_results(cell.records.folder))
        self._grades: list[Future[QuestionScore]] = []
        self._num_total = num_seeds * len(loaded.questions)
        self._num_tokens = 0
        for row in self._rows:
            self._grade(row)
        self._progress = CellProgress(
            cell.records.folder.name,
            total=self._num_total,
            resumed=len(self._rows),
            base_mean_at_k=base_mean_at_k,
        )

    def __enter__(self) -> "Outcomes":
        self._progress.__enter__()
        self._mark()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._progress.__exit__(kind, error, trace)

    def add(self, result: QuestionResult) -> None:
        """Stores a result, hands it to the grader and shows what is graded by now.

        Raises ContractError, and stores nothing, where its finals are not drawn after the same rounds and as
        many as those of the cell's first result: a table would tell of all what holds for some.
        """
        self._require_alike(result)
        row = self._cell.records.append(result)
        self._rows.append(row)
        self._grade(row)
        self._num_tokens += result.usage.generated_tokens
        if refused := dict(result.usage.too_long_by_purpose):
            logger.warning(
                "Question %r: samples whose prompt did not fit into the context, by purpose: %s",
                result.question.question_id,
                refused,
            )
        self._mark()
        scores = [grade.result() for grade in self._grades if grade.done()]
        mean = sum(mean_at_k(score.last) for score in scores) / len(scores) if scores else None
        self._progress.update(done=len(self._rows), tokens=self._num_tokens, mean_at_k=mean)
        shown = {"questions_done": float(len(self._rows)), "generated_tokens": float(self._num_tokens)}
        self._cell.tracking.log(len(self._rows), shown if mean is None else {**shown, "mean_at_k": mean})

    def measure(self) -> dict[str, Any]:
        """Stores the scores and returns the metrics of all results; questions without a gold are left out."""
        scores = sorted((g.result() for g in self._grades), key=lambda score: (score.seed, score.question_id))
        self._cell.records.write_scores([score.to_json() for score in scores])
        self._cell.tracking.table("questions", TABLE_COLUMNS, self._table(scores))
        measured = measure_cell(scores, self._rows, tally=self._grader.tally) if scores else {}
        status = read_status(self._cell.records.folder) or {}
        return {**measured, "wall_seconds": status.get("wall_seconds", 0.0)}

    def _require_alike(self, result: QuestionResult) -> None:
        here = _shape(result.finals)
        first = _shape(self._rows[0]["finals"]) if self._rows else here
        if here != first:
            raise ContractError(
                f"{self._cell.records.folder.name}: for all questions and seeds, the method must return "
                f"finals after the same rounds, and as many; the pairs (rounds done, answers) were {first} "
                f"for the first and are {here} for {result.question.question_id!r} under seed {result.seed}."
            )

    def _grade(self, row: Row) -> None:
        if row["question_id"] in self._golds:
            gold = self._golds[row["question_id"]]
            self._grades.append(
                self._thread.submit(
                    grade_line, row, gold, self._grader, abstentions_vote=self._abstentions_vote
                )
            )

    def _mark(self) -> None:
        self._cell.records.mark(
            "running",
            questions_done=len(self._rows),
            questions_total=self._num_total,
            generated_tokens=sum(row["usage"]["generated_tokens"] for row in self._rows),
        )

    def _table(self, scores: list[QuestionScore]) -> list[list[Any]]:
        rows = {(row["question_id"], row["seed"]): row for row in self._rows}
        return [
            [
                row["text"],
                score.seed,
                score.gold,
                ", ".join(final["answer"] or "-" for final in row["finals"][-1][1]),
                mean_at_k(score.last),
                ", ".join(_least_entropy(step) for step in row["trace"] if step["type"] == "round"),
                row["usage"]["generated_tokens"],
            ]
            for score in scores
            for row in [rows[score.key]]
        ]


def _shape(finals: Iterable[tuple[int, Sized]]) -> list[tuple[int, int]]:
    """The rounds done at each set of finals, and how many these are."""
    return [(done, len(found)) for done, found in finals]


def _least_entropy(step: Row) -> str:
    """The look-ahead entropy of the attempt kept, in bits; a dash where none was drawn."""
    kept = [x["entropy_bits"] for x in step["lookaheads"] if x["attempt"] in step["kept"]]
    return f"{kept[0]:.3f}" if kept else "-"
