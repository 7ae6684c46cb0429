"""The cells of a run as they are stored, and the arms that are compared: pure reading, nothing is sampled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from icpo.errors import IcpoError
from icpo.metrics import PER_QUESTION, Estimate, QuestionScore
from icpo.safe_text import escaped, escaped_values
from icpo.store import read_manifest, read_metrics, read_scores, read_status, run_cells

BASE = "direct"
PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class ArmKey:
    """What tells one arm from another; the first nine are the leading columns of table.csv.

    `method` carries the base's prompt where it is not the plain one (`direct_empty_history`). `num_rounds`
    is the number of rounds after which the finals were drawn. Fields that a method lacks are None. `label`
    tells apart arms that differ in nothing else here.
    """

    backbone: str
    method: str
    reward: str | None
    selector: str | None
    protocol: str
    num_rounds: int | None
    num_candidates: int | None
    num_lookaheads: int | None
    benchmark: str
    k: int
    label: str = ""

    @property
    def is_base(self) -> bool:
        """Whether it answers from the question alone."""
        return self.method == BASE or self.method.startswith(f"{BASE}_")


@dataclass(frozen=True, slots=True)
class Arm:
    """One line of a table on one benchmark: the finals of a cell after some number of rounds."""

    key: ArmKey
    cell: str
    estimates: Mapping[str, Estimate]
    scores: tuple[QuestionScore, ...]
    metrics: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's folder: its state, why, and its arms.

    `state` is done, running, failed, interrupted, unreadable, not begun or unknown. A cell of another kind
    (theory, training) has `metrics` and no arms.
    """

    folder: Path
    state: str
    reason: str
    config: Mapping[str, Any]
    metrics: Mapping[str, Any]
    scores: tuple[QuestionScore, ...]
    arms: tuple[Arm, ...]

    @property
    def job(self) -> Mapping[str, Any]:
        """The stored configuration of the job; empty where there is none."""
        job = self.config.get("job")
        return job if isinstance(job, Mapping) else {}


def load_cells(outputs: Path, run_name: str) -> tuple[Cell, ...]:
    """All cells of a run, by folder name; one that cannot be read says so in its state and has no arms.

    A folder with a log and no manifest is a cell that ended before it began, such as one sent elsewhere that
    was refused; an empty log tells of a slip on the command line alone.
    """
    cells = [load_cell(folder) for folder in run_cells(outputs, run_name)]
    begun = {cell.folder for cell in cells}
    logs = (path for path in (outputs / run_name).glob("*/run.log") if path.parent not in begun)
    cells += [
        Cell(path.parent, "not begun", f"see {path.name}", {}, {}, (), ())
        for path in logs
        if path.stat().st_size
    ]
    return tuple(sorted(cells, key=lambda cell: cell.folder.name))


def load_cell(folder: Path) -> Cell:
    """A cell as its folder holds it."""
    try:
        status = read_status(folder) or {}
        config = dict((read_manifest(folder) or {}).get("config", {}))
        metrics = escaped_values(read_metrics(folder) or {})
        scores = tuple(QuestionScore.from_json(line) for line in read_scores(folder))
        arms = _arms(folder.name, metrics, scores) if "mean_at_k" in metrics else ()
    except (IcpoError, OSError) as error:
        return Cell(folder, "unreadable", escaped(str(error)), {}, {}, (), ())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"metrics.json or scores.jsonl is not as expected: {type(error).__name__} {error}"
        return Cell(folder, "unreadable", escaped(reason), {}, {}, (), ())
    status = escaped_values(status)
    state, reason = str(status.get("state", "unknown")), str(status.get("reason", ""))
    return Cell(folder, state, reason, config, metrics, scores, arms)


def _arms(cell: str, metrics: Mapping[str, Any], scores: tuple[QuestionScore, ...]) -> tuple[Arm, ...]:
    """One arm per number of rounds at which finals were drawn."""
    key = _key(metrics)
    sweep: Mapping[str, Mapping[str, Any]] = metrics.get("by_num_rounds") or {}
    if not sweep:
        return (Arm(key, cell, _estimates(metrics), scores, metrics),)
    return tuple(
        Arm(replace(key, num_rounds=int(n)), cell, _estimates(at_n), _after(scores, int(n)), metrics)
        for n, at_n in sweep.items()
    )


def _key(metrics: Mapping[str, Any]) -> ArmKey:
    method, prompt = metrics["method"], metrics.get("prompt") or PLAIN
    return ArmKey(
        backbone=str(metrics["backbone"]),
        method=f"{method}_{prompt}" if method == BASE and prompt != PLAIN else method,
        reward=metrics["reward"],
        selector=metrics["selector"],
        protocol=str(metrics["protocol"]),
        num_rounds=metrics["num_rounds"],
        num_candidates=metrics["num_candidates"],
        num_lookaheads=metrics["num_lookaheads"],
        benchmark=str(metrics["benchmark"]),
        k=int(metrics["k"]),
        label=str(metrics.get("label", "")),
    )


def _estimates(metrics: Mapping[str, Any]) -> dict[str, Estimate]:
    return {name: _estimate(**metrics[name]) for name in PER_QUESTION}


def _estimate(value: float, low: float, high: float, std_over_seeds: float | None) -> Estimate:
    return Estimate(
        float(value), float(low), float(high), None if std_over_seeds is None else float(std_over_seeds)
    )


def _after(scores: tuple[QuestionScore, ...], num_rounds: int) -> tuple[QuestionScore, ...]:
    """The scores with the finals drawn after so many rounds alone."""
    return tuple(
        replace(score, finals=kept)
        for score in scores
        if (kept := tuple(entry for entry in score.finals if entry[0] == num_rounds))
    )
