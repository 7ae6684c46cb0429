"""The questions of runs as a DataFrame and a CSV file."""

import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icpo.errors import IcpoError, RecordsError
from icpo.metrics import PER_QUESTION
from icpo.report.cells import Arm, Cell, load_cells
from icpo.report.settings import flat
from icpo.store import load_results, written_in_turn
from icpo.types import QuestionResult, Usage

if TYPE_CHECKING:
    import pandas as pd

COSTS = ("num_requests", "num_sequences", "prompt_tokens", "generated_tokens")
FACTS = ("backbone", "benchmark", "method", "arm", "title", "label", "reward", "selector", "protocol")
HELD_BY_THE_METHOD = ("reward", "selector")  # the job names them too, also where its method uses none

logger = logging.getLogger(__name__)


def question_frame(*run_names: str, outputs: str | Path = "outputs") -> "pd.DataFrame":
    """One row per question, seed and cell.

    And per number of rounds where a cell has final samples after several. Columns: run, cell, what the cell
    is of, num_rounds, question_id, seed, gold, k; the metrics of that question in [0, 1]; what it cost; then
    each setting to which two cells give different values, by its key in the configuration (a list as JSON).
    Cells that cannot be read are left out with a warning; questions without a gold have no scores and no row.

    Raises:
        RecordsError: a run holds no scores, or no cell of all runs can be read.
    """
    import pandas as pd

    found = [(name, cell) for name in run_names for cell in _scored(Path(outputs), name)]
    settings = _settings([cell for _, cell in found])
    rows = []
    for (run_name, cell), own in zip(found, settings, strict=True):
        try:
            rows += [{"run": run_name, **row, **own} for row in _rows(cell)]
        except IcpoError as error:
            logger.warning("%s is left out: %s", cell.folder, error)
        except (OSError, LookupError, ValueError) as error:
            logger.warning("%s is left out: %s %s", cell.folder, type(error).__name__, error)
    if not rows:
        raise RecordsError(
            f"No cell of {', '.join(run_names)} in {outputs} has both scores and their results; the warnings "
            "above say what each lacks."
        )
    return pd.DataFrame(rows)


def write_questions(outputs: Path, run_name: str) -> Path:
    """Writes the frame of one run to OUTPUTS/RUN_NAME/report/questions.csv. Raises RecordsError."""
    frame = question_frame(run_name, outputs=outputs)
    folder = outputs / run_name / "report"
    with written_in_turn(folder) as drafts:
        frame.to_csv(drafts / "questions.csv", index=False)
    return folder / "questions.csv"


def _scored(outputs: Path, run_name: str) -> list[Cell]:
    cells = load_cells(outputs, run_name)
    for cell in cells:
        if not cell.arms:
            logger.warning("%s is left out: %s", cell.folder, f"{cell.state} {cell.reason}".strip())
    if scored := [cell for cell in cells if cell.arms]:
        return scored
    raise RecordsError(f"{outputs / run_name} holds no scores of questions. See python -m icpo.status.")


def _rows(cell: Cell) -> Iterator[dict[str, Any]]:
    results = {result.key: result for result in load_results(cell.folder)}
    for arm in cell.arms:
        for score in arm.scores:
            if score.key not in results:
                raise RecordsError(
                    f"results.jsonl lacks question {score.question_id!r} under seed {score.seed}, "
                    "which scores.jsonl has."
                )
            num_rounds, _ = max(score.finals, key=lambda entry: entry[0])
            usage = _usage(results[score.key], num_rounds)
            yield {
                "cell": cell.folder.name,
                **_facts(arm),
                "num_rounds": arm.key.num_rounds,
                "question_id": score.question_id,
                "seed": score.seed,
                "gold": score.gold,
                "k": len(score.last.outcomes),
                **{name: metric(score.last) for name, metric in PER_QUESTION.items()},
                **{name: getattr(usage, name, None) for name in COSTS},
            }


def _facts(arm: Arm) -> dict[str, Any]:
    return {name: getattr(arm.key, name) for name in FACTS}


def _usage(result: QuestionResult, num_rounds: int) -> Usage | None:
    """The cost of a run that ends with these finals; None where an old result does not say."""
    done = [rounds for rounds, _ in result.finals]
    if result.usage_at_finals:
        return result.usage_at_finals[done.index(num_rounds)]
    return result.usage if len(done) == 1 else None


def _settings(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Of each cell, the settings that vary among them; what several keys or a fact say alike is said once."""
    jobs = [
        {key: value for key, value in flat(cell.job) if key.partition(".")[0] not in HELD_BY_THE_METHOD}
        for cell in cells
    ]
    said = [tuple(_facts(cell.arms[0])[name] for cell in cells) for name in FACTS]
    columns: dict[str, tuple[Any, ...]] = {}
    for key in dict.fromkeys(key for job in jobs for key in job):
        found = [job.get(key) for job in jobs]
        values = tuple(json.dumps(value) if isinstance(value, list) else value for value in found)
        given = {value for value, job in zip(values, jobs, strict=True) if key in job}
        if len(given) > 1 and values not in said:
            said.append(values)
            columns[key] = values
    return [{key: values[i] for key, values in columns.items()} for i in range(len(cells))]
