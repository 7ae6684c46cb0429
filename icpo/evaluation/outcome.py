"""What becomes of results: stored, graded, shown and measured."""

import logging
from collections.abc import Iterable, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from icpo.benchmarks import LoadedBenchmark
from icpo.errors import ContractError
from icpo.evaluation.cell import Cell
from icpo.evaluation.grade import grade_result
from icpo.evaluation.progress import CellProgress
from icpo.grading import Grader
from icpo.metrics import mean_at_k, measure_cell
from icpo.store import load_results, read_status
from icpo.types import QuestionResult, QuestionScore, Round

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


class Outcomes:
    """Takes results as they finish, and shows progress while open."""

    def __init__(
        self,
        cell: Cell,
        loaded: LoadedBenchmark,
        num_total: int,
        grader: Grader,
        abstentions_vote: bool,
        base_mean_at_k: float | None,
    ) -> None:
        """Begins with what is stored of `num_total` results; `base_mean_at_k` is shown beside the score."""
        self._cell = cell
        self._golds = loaded.golds
        self._grader = grader
        self._abstentions_vote = abstentions_vote
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="grading")
        self._results: list[QuestionResult] = []
        self._grades: list[Future[QuestionScore]] = []
        self._num_total = num_total
        self._num_tokens = self._num_sampled_tokens = 0
        self._num_graded, self._sum_graded = 0, 0.0
        for result in load_results(cell.records.folder):
            self._take(result)
        self._progress = CellProgress(
            cell.records.folder.name,
            total=self._num_total,
            resumed=len(self._results),
            base_mean_at_k=base_mean_at_k,
        )

    def __enter__(self) -> "Outcomes":
        self._progress.__enter__()
        self._mark()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._progress.__exit__()

    def add(self, result: QuestionResult, num_sampled_tokens: int) -> None:
        """Store a result, grade it, and show the progress; so many tokens were sampled since the start.

        Raises ContractError, and stores nothing, where it does not have as many final samples after the same
        rounds as the cell's first result: a table would state of all what holds for some.
        """
        self._require_alike(result)
        self._take(self._cell.records.append(result))
        if refused := dict(result.usage.too_long_by_purpose):
            logger.warning(
                "Question %r: samples whose prompt did not fit into the context, by purpose: %s",
                result.question.question_id,
                refused,
            )
        self._mark()
        self._num_sampled_tokens = tokens = num_sampled_tokens
        done, mean = len(self._results), self._mean()
        self._progress.update(done=done, tokens=tokens, mean_at_k=mean)
        shown = {"questions_done": float(done), "generated_tokens": float(tokens)}
        self._cell.tracking.log(done, shown if mean is None else {**shown, "mean_at_k": mean})

    @property
    def results(self) -> Sequence[QuestionResult]:
        """The results stored so far."""
        return self._results

    def measure(self) -> dict[str, Any]:
        """Store the scores and return the metrics of all results."""
        scores = sorted((g.result() for g in self._grades), key=lambda score: (score.seed, score.question_id))
        self._progress.update(
            done=len(self._results), tokens=self._num_sampled_tokens, mean_at_k=self._mean()
        )
        self._cell.records.write_scores(scores)
        self._cell.tracking.table("questions", TABLE_COLUMNS, self._table(scores))
        measured = measure_cell(scores, self._results, tally=self._grader.tally) if scores else {}
        status = read_status(self._cell.records.folder) or {}
        return {**measured, "wall_seconds": status.get("wall_seconds", 0.0)}

    def _require_alike(self, result: QuestionResult) -> None:
        here = _shape(result.finals)
        first = _shape(self._results[0].finals) if self._results else here
        if here != first:
            raise ContractError(
                f"{self._cell.records.folder.name}: for all questions and seeds, the method must return "
                f"finals after the same rounds, and as many; the pairs (rounds done, answers) were {first} "
                f"for the first and are {here} for {result.question.question_id!r} under seed {result.seed}."
            )

    def _take(self, result: QuestionResult) -> None:
        """Counts a stored result and hands it to the grader, if its question has a gold."""
        self._results.append(result)
        self._num_tokens += result.usage.generated_tokens
        gold = self._golds.get(result.question.question_id)
        if gold is not None:
            graded = self._thread.submit(
                grade_result, result, gold, self._grader, abstentions_vote=self._abstentions_vote
            )
            self._grades.append(graded)

    def _mean(self) -> float | None:
        """Mean@k of what is graded by now. The thread grades in order, so each grade is looked at once."""
        while self._num_graded < len(self._grades) and self._grades[self._num_graded].done():
            self._sum_graded += mean_at_k(self._grades[self._num_graded].result().last)
            self._num_graded += 1
        return self._sum_graded / self._num_graded if self._num_graded else None

    def _mark(self) -> None:
        self._cell.records.mark(
            "running",
            questions_done=len(self._results),
            questions_total=self._num_total,
            generated_tokens=self._num_tokens,
        )

    def _table(self, scores: list[QuestionScore]) -> list[list[Any]]:
        results = {result.key: result for result in self._results}
        return [
            [
                result.question.text,
                score.seed,
                score.gold,
                ", ".join(final.answer or "-" for final in result.finals[-1][1]),
                mean_at_k(score.last),
                ", ".join(_least_entropy(round_) for round_ in result.rounds),
                result.usage.generated_tokens,
            ]
            for score in scores
            for result in [results[score.key]]
        ]


def _shape(finals: Iterable[tuple[int, Sized]]) -> list[tuple[int, int]]:
    """The rounds done at each set of finals, and how many these are."""
    return [(done, len(found)) for done, found in finals]


def _least_entropy(round_: Round) -> str:
    """The look-ahead entropy of the attempt kept, in bits; a dash where none was sampled."""
    kept = [ahead.entropy_bits for ahead in round_.lookaheads if ahead.attempt in round_.kept]
    return f"{kept[0]:.3f}" if kept else "-"
