"""The probe as a job: an evaluation of its conditions."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from icpo.evaluation.cell import Cell
from icpo.evaluation.evaluation import Evaluation
from icpo.grading import Grader
from icpo.lab.probe.estimands import measure
from icpo.lab.probe.shifts import Shift, shifts_of
from icpo.store import load_results

SHIFTS_NAME = "shifts.csv"


@dataclass(frozen=True, slots=True)
class Probe:
    """Samples through an evaluation, with its journal and grading."""

    evaluation: Evaluation

    def check(self, *, is_here: bool) -> None:
        """Raises IcpoError where the evaluation cannot run."""
        self.evaluation.check(is_here=is_here)

    def preflight(self) -> None:
        """Raises EngineError where this machine cannot run the engine at all."""
        self.evaluation.preflight()

    def sample(self, cell: Cell) -> Mapping[str, Any]:
        """Sample what is missing; write shifts.csv; return all metrics."""
        metrics = self.evaluation.sample(cell)
        results = load_results(cell.records.folder)
        golds = self.evaluation.benchmark.load().golds
        with Grader(self.evaluation.protocol.grading) as grader:
            shifts = shifts_of(results, golds, grader.tally)
        write_shifts(cell.records.folder / SHIFTS_NAME, shifts)
        return {**metrics, **measure(shifts)}


def write_shifts(path: Path, shifts: Sequence[Shift]) -> None:
    """One line per question, seed and condition."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        counts = ("total", "parsed", "hits", "right")
        header = ["question_id", "seed", "condition", *(f"base_{c}" for c in counts), *counts]
        writer.writerow([*header, "base_scored", "scored", "others"])
        for s in shifts:
            numbers = [*asdict(s.base).values(), *asdict(s.count).values()]
            writer.writerow([s.question_id, s.seed, s.condition, *numbers, s.base_scored, s.scored, s.others])
