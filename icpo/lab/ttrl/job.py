"""TTRL (Zuo et al. 2025): training on votes, then evaluation."""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from icpo.errors import EngineError
from icpo.evaluation.cell import Cell, run_cell
from icpo.evaluation.engine_pool import POOL
from icpo.evaluation.evaluation import Evaluation
from icpo.grading import Grader
from icpo.lab.ttrl.settings import Curve, Grpo, TrainingCost, VoteReward
from icpo.metrics import PER_QUESTION, measure_cell
from icpo.seeding import derive_seed
from icpo.store import load_results, load_scores, read_metrics, read_status
from icpo.tracking import NoTracker
from icpo.types import Prompt, Question, Toolkit


@dataclass(frozen=True, slots=True)
class Ttrl:
    """One cell: a model is trained and evaluated per seed.

    `evaluation` is done before and after training; training asks what its method asks first, and rewards
    by its reward, which must be the majority. `trainer` trains; None is this package's, which needs trl.
    """

    label: str
    evaluation: Evaluation
    grpo: Grpo
    trainer: Any = None

    def __post_init__(self) -> None:
        reward = self.evaluation.reward.name
        if reward != "majority":
            raise ValueError(
                f"TTRL is trained by majority votes, not by reward={reward}. Use reward=majority."
            )

    def check(self, *, is_here: bool) -> None:
        """Raises IcpoError where the evaluation cannot run."""
        self.evaluation.check(is_here=is_here)

    def preflight(self) -> None:
        """Raises EngineError where this machine cannot train or evaluate."""
        self.evaluation.preflight()
        load_trainer()

    def sample(self, cell: Cell) -> Mapping[str, Any]:
        """Evaluates, trains and evaluates; goes on where an earlier session stopped.

        Returns the metrics after training with what training cost added, and those before.
        """
        folder = cell.records.folder
        seeds = self.evaluation.seeds
        before = _evaluated(self.evaluation, folder / "before", cell)
        curve: Curve = []
        for i, seed in enumerate(seeds):
            curve += self._trained(cell, seed, first_step=i * self.grpo.num_steps)
            _evaluated(self._after(folder, seed), folder / f"after_{seed}", cell)
        cost = TrainingCost.of(curve, self.grpo)
        after = self._measure(cell, [folder / f"after_{seed}" for seed in seeds])
        return {
            **before,
            **after,
            "method": "ttrl",
            "label": self.label,
            "generated_tokens": after["generated_tokens"] + cost.generated_tokens,
            "prompt_tokens": after["prompt_tokens"] + cost.prompt_tokens,
            "num_requests": after["num_requests"] + cost.num_requests,
            "num_sequences": after["num_sequences"] + cost.num_sequences,
            "generated_by_purpose": {
                **after["generated_by_purpose"],
                "training": cost.generated_tokens,
            },
            "wall_seconds": after["wall_seconds"] + cost.seconds,
            "training": cost.to_json(),
            "before": {name: before[name] for name in (*PER_QUESTION, "generated_tokens", "wall_seconds")},
        }

    def _after(self, folder: Path, seed: int) -> Evaluation:
        """The evaluation of the model trained under a seed."""
        backbone = replace(self.evaluation.backbone, model_id=str(_model(folder, seed)), revision=None)
        return replace(self.evaluation, backbone=backbone, seeds=(seed,))

    def _trained(self, cell: Cell, seed: int, *, first_step: int) -> Curve:
        """The training under a seed, done now or earlier; its curve."""
        evaluation = self.evaluation
        POOL.close()  # the trainer needs the memory
        questions = evaluation.benchmark.load().questions
        with Grader(evaluation.protocol.grading) as grader:
            tools = evaluation.toolkit(grader)
            curve: Curve = (self.trainer or load_trainer()).train(
                evaluation.backbone,
                self.grpo,
                self._prompts(questions, tools),
                VoteReward(evaluation.reward, tools, questions, seed),
                _model(cell.records.folder, seed),
                seed=derive_seed(seed, "ttrl") % 2**32,
                log=lambda step, values: cell.tracking.log(first_step + step, values),
                is_stopped=cell.interrupt.is_set,
            )
        cell.check()
        return curve

    def _prompts(self, questions: Sequence[Question], tools: Toolkit) -> dict[str, Prompt]:
        """What the method asks first of each question, by question id."""
        prompts = {}
        for question in questions:
            solving = self.evaluation.method.solve(question, tools, seed=0)
            prompts[question.question_id] = next(solving)[0].prompt
            solving.close()
        return prompts

    def _measure(self, cell: Cell, folders: Sequence[Path]) -> dict[str, Any]:
        """The metrics of all seeds together; their scores become the cell's."""
        scores = [score for folder in folders for score in load_scores(folder)]
        results = [result for folder in folders for result in load_results(folder)]
        seconds = sum((read_metrics(folder) or {})["wall_seconds"] for folder in folders)
        cell.records.write_scores(scores)
        with Grader(self.evaluation.protocol.grading) as grader:
            return {**measure_cell(scores, results, tally=grader.tally), "wall_seconds": seconds}


def load_trainer() -> ModuleType:
    """The module that trains, imported only when it is needed."""
    try:
        return importlib.import_module("icpo.lab.ttrl.trainer")
    except ImportError as error:
        raise EngineError(
            f"job=ttrl needs the trl package ({error}). Install it with pip install 'icpo[ttrl]'."
        ) from error


def _evaluated(evaluation: Evaluation, folder: Path, cell: Cell) -> dict[str, Any]:
    """The metrics of an evaluation in a folder inside the cell's, done now or earlier."""
    if (read_status(folder) or {}).get("state") != "done":
        manifest = cell.records.manifest
        run_cell(
            evaluation,
            tracker=NoTracker(),
            folder=folder,
            values=manifest["config"],
            digest=manifest["config_digest"],
        )
    return read_metrics(folder) or {}


def _model(folder: Path, seed: int) -> Path:
    return folder / f"training_{seed}" / "model"
