"""What becomes of results: stored, graded, shown, measured."""

import time
from typing import Any

from icpo.benchmarks import LoadedBenchmark
from icpo.grading import Grader
from icpo.jobs.cell import Cell
from icpo.jobs.grade import grade_line
from icpo.metrics import QuestionScore, measure_cell
from icpo.records import read_results, read_status
from icpo.types import QuestionResult


class Outcomes:
    """Takes results as they finish; measures those stored in all."""

    def __init__(
        self,
        cell: Cell,
        loaded: LoadedBenchmark,
        seeds: tuple[int, ...],
        grader: Grader,
        abstentions_vote: bool,
    ) -> None:
        """Begins with what earlier sessions stored."""
        self._cell = cell
        self._golds = loaded.golds
        self._grader = grader
        self._abstentions_vote = abstentions_vote
        self._num_total = len(loaded.questions) * len(seeds)
        self._num_done = len(cell.records.done())
        self._began = time.monotonic()
        self._report(0)

    def add(self, result: QuestionResult) -> None:
        """Stores a result and tells the tracker of it."""
        self._cell.records.append(result)
        self._num_done += 1
        self._report(result.usage.generated_tokens)

    def _report(self, num_tokens: int) -> None:
        self._cell.records.mark("running", questions_done=self._num_done, questions_total=self._num_total)

    def measure(self) -> dict[str, Any]:
        """Grades all stored results and measures them; questions without a gold are left out."""
        lines = read_results(self._cell.records.folder)
        scores: list[QuestionScore] = [
            grade_line(
                line, self._golds[line["question_id"]], self._grader, abstentions_vote=self._abstentions_vote
            )
            for line in lines
            if line["question_id"] in self._golds
        ]
        scores.sort(key=lambda score: (score.seed, score.question_id))
        self._cell.records.write_scores([score.to_json() for score in scores])
        status = read_status(self._cell.records.folder) or {}
        measured = measure_cell(scores, lines, tally=self._grader.tally) if scores else {}
        return {**measured, "wall_seconds": status.get("wall_seconds", 0.0)}
