"""The stored cells of a run, and the arms to compare."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from icpo.errors import IcpoError
from icpo.metrics import Estimate, summarise
from icpo.report.settings import flat
from icpo.report.swept import StoredCell, swept_texts
from icpo.safe_text import escaped, escaped_values
from icpo.store import (
    check_cell,
    job_settings,
    load_scores,
    planned_cells,
    read_finished,
    read_manifest,
    read_status,
    run_cells,
)
from icpo.types import QuestionScore

BASE = "direct"
PLAIN = "plain"
DEFAULT = "default"  # the arm of a run that names none
ME_ICPO, FULL = "me_icpo", "full"
PAPER_RULES = ("majority", "entropy")
TOKENS = {"tokens_per_question": "generated_tokens", "prompt_tokens_per_question": "prompt_tokens"}


@dataclass(frozen=True, slots=True)
class ArmKey:
    """What distinguishes one arm from another; the fields are columns of table.csv.

    `method` carries the base's prompt where it is not the plain one (`direct_empty_history`). `num_rounds`
    is the number of rounds after which the final samples were taken. Fields that a method lacks are None.
    `arm` and `title` name the arm; of a cell of version 1, or of no named arm, the title is the label.
    `swept` tells apart the cells of one arm in a run, such as `temperature_0.3`; the title ends in it.
    `setting` are those values in it that a base must share.
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
    arm: str = ""
    title: str = ""
    swept: str = ""
    setting: str = ""

    @property
    def is_base(self) -> bool:
        """Whether it answers from the question alone."""
        return self.method == BASE or self.method.startswith(f"{BASE}_")

    @property
    def is_full(self) -> bool:
        """Whether it is ME-ICPO with the paper's reward and selector."""
        return self.method == ME_ICPO and (self.reward, self.selector) == PAPER_RULES

    @property
    def line(self) -> "ArmKey":
        """The key of a line of a table: all except benchmark."""
        return replace(self, benchmark="")


@dataclass(frozen=True, slots=True)
class Arm:
    """A cell's final samples after some number of rounds.

    Or those of several benchmarks, pooled. `cell` is "" for a pool. `tokens` holds the TOKENS that are known.
    `metrics` is the cell's metrics.json, `settings` its configuration by dotted key, and `weights` the digest
    of its model, where one is stored.
    """

    key: ArmKey
    cell: str
    scores: tuple[QuestionScore, ...]
    tokens: Mapping[str, float]
    metrics: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    weights: str | None = None

    @property
    def num_questions(self) -> int:
        """Questions, each counted once."""
        return len({score.question_id for score in self.scores})

    def estimates(self) -> dict[str, Estimate]:
        """All estimates from its scores, by metric."""
        return summarise({score.key: score.last for score in self.scores})


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
        return job_settings(self.config)

    @property
    def last(self) -> Arm:
        """The arm after the most rounds."""
        return max(self.arms, key=lambda arm: arm.key.num_rounds or 0)


def arm_name(metrics: Mapping[str, Any]) -> str:
    """A cell's name in its run: its arm, or its label."""
    return str(metrics.get("arm") or metrics["label"])


def load_cells(outputs: Path, run_name: str) -> tuple[Cell, ...]:
    """All cells of a run, by folder name.

    One that cannot be read says so in its state and has no arms. A folder with a log and no manifest is a
    cell that ended before it began, such as one that a scheduler refused; an empty log means that the command
    line was wrong. A cell that was planned alone has no folder.
    """
    run = outputs / run_name
    cells = _told_apart([load_cell(folder) for folder in run_cells(outputs, run_name)])
    reasons = dict.fromkeys(planned_cells(run), "planned")
    reasons |= {path.parent: f"see {path.name}" for path in run.glob("*/run.log") if path.stat().st_size}
    for folder in reasons.keys() - {cell.folder for cell in cells}:
        cells.append(Cell(folder, "not begun", reasons[folder], {}, {}, (), ()))
    return tuple(sorted(cells, key=lambda cell: cell.folder.name))


def _told_apart(cells: Iterable[Cell]) -> list[Cell]:
    """The cells with what was swept in their arms' keys and titles."""
    cells = list(cells)
    lasts = [cell.last for cell in cells if cell.arms]
    texts = swept_texts([StoredCell(x.cell, x.metrics, x.settings, x.weights) for x in lasts])

    def named(arm: Arm) -> Arm:
        swept, setting = texts.get(arm.cell, ("", ""))
        title = ", ".join(filter(None, (arm.key.title, swept)))
        return replace(arm, key=replace(arm.key, title=title, swept=swept, setting=setting))

    return [replace(cell, arms=tuple(map(named, cell.arms))) for cell in cells]


def load_cell(folder: Path) -> Cell:
    """A cell as its folder holds it; what was swept is known to its run alone."""
    try:
        status = read_status(folder) or {}
        manifest = read_manifest(folder) or {}
        check_cell(folder, manifest)
        config = dict(manifest.get("config", {}))
        metrics = escaped_values(read_finished(folder, status) or {})
        scores = load_scores(folder)
        arms = _arms(folder.name, metrics, scores) if "mean_at_k" in metrics else ()
        settings, weights = _settings(config), (manifest.get("resolved") or {}).get("weights")
        arms = tuple(replace(arm, settings=settings, weights=weights) for arm in arms)
    except (IcpoError, OSError) as error:
        return Cell(folder, "unreadable", escaped(str(error)), {}, {}, (), ())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"metrics.json or scores.jsonl is not as expected: {type(error).__name__} {error}"
        return Cell(folder, "unreadable", escaped(reason), {}, {}, (), ())
    status = escaped_values(status)
    state, reason = str(status.get("state", "unknown")), str(status.get("reason", ""))
    return Cell(folder, state, reason, config, metrics, scores, arms)


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The leaves by dotted key; the job's where the configuration has no group of that name beside it."""
    groups = {key: value for key, value in config.items() if key != "job"}
    return dict(flat({**groups, **{k: v for k, v in job_settings(config).items() if k not in groups}}))


def _arms(cell: str, metrics: Mapping[str, Any], scores: tuple[QuestionScore, ...]) -> tuple[Arm, ...]:
    """One arm for each number of rounds after which there are final samples."""
    key, parts = _key(metrics), metrics.get("by_num_rounds") or {}
    if not scores or not isinstance(metrics["mean_at_k"]["value"], int | float):
        raise ValueError("metrics without scores")
    if not parts:
        return (Arm(key, cell, scores, _tokens(metrics, scores), metrics),)
    return tuple(
        Arm(replace(key, num_rounds=int(n)), cell, kept, _tokens(part, kept), metrics)
        for n, part in parts.items()
        for kept in (_after(scores, int(n)),)
    )


def _key(metrics: Mapping[str, Any]) -> ArmKey:
    method, prompt = metrics["method"], metrics.get("prompt") or PLAIN
    method = f"{method}_{prompt}" if method == BASE and prompt != PLAIN else method
    label = str(metrics.get("label", ""))
    arm = str(metrics.get("arm") or label or method)
    name = label or method if arm == DEFAULT else arm
    return ArmKey(
        backbone=str(metrics["backbone"]),
        method=method,
        reward=metrics["reward"],
        selector=metrics["selector"],
        protocol=str(metrics["protocol"]),
        num_rounds=metrics["num_rounds"],
        num_candidates=metrics["num_candidates"],
        num_lookaheads=metrics["num_lookaheads"],
        benchmark=str(metrics["benchmark"]),
        k=int(metrics["k"]),
        label=label,
        arm=arm,
        title=str(metrics.get("title") or name),
    )


def _tokens(part: Mapping[str, Any], scores: tuple[QuestionScore, ...]) -> dict[str, float]:
    """Tokens per question and seed; of old results with several final samples they are not known."""
    return {name: part[total] / len(scores) for name, total in TOKENS.items() if total in part}


def _after(scores: tuple[QuestionScore, ...], num_rounds: int) -> tuple[QuestionScore, ...]:
    """The scores with the final samples after so many rounds alone."""
    return tuple(
        replace(score, finals=kept)
        for score in scores
        if (kept := tuple(entry for entry in score.finals if entry[0] == num_rounds))
    )
