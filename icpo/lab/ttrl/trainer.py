"""GRPO by trl: the one file that imports it."""

import json
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from transformers.utils.logging import disable_progress_bar
from trl import GRPOConfig, GRPOTrainer

from icpo.backbones import Backbone
from icpo.backbones.backbone import ChatTemplate
from icpo.lab.ttrl.settings import Curve, Grpo, VoteReward, training_order
from icpo.types import Prompt

logger = logging.getLogger(__name__)

CURVE_NAME = "curve.json"
WHOLE = "whole"  # a file in a checkpoint that was written to its end
SHOWN = {
    "reward": "reward",
    "reward_std": "reward_std",
    "frac_reward_zero_std": "share_of_unanimous_questions",
    "entropy": "entropy_nats",
    "kl": "kl",
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "completions/mean_length": "mean_completion_tokens",
    "completions/clipped_ratio": "share_truncated",
}


def train(
    backbone: Backbone,
    grpo: Grpo,
    prompts: Mapping[str, Prompt],
    reward: VoteReward,
    model_folder: Path,
    *,
    seed: int,
    log: Callable[[int, Mapping[str, float]], None],
    is_stopped: Callable[[], bool],
) -> Curve:
    """Train a model and write it to `model_folder`.

    Returns its curve. A finished training is only read. An unfinished one goes on from its last checkpoint;
    when `is_stopped` says so, one is written and the curve so far returned.
    """
    folder = model_folder.parent
    if model_folder.is_dir():
        return list(json.loads((folder / CURVE_NAME).read_text(encoding="utf-8")))
    disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(backbone.location, revision=backbone.revision)
    model = AutoModelForCausalLM.from_pretrained(
        backbone.location, revision=backbone.revision, dtype=getattr(torch, grpo.weights_dtype)
    )
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=_reward_function(reward, grpo.updates_per_step),
        args=_arguments(grpo, folder / "checkpoints", seed, backbone),
        train_dataset=_dataset(prompts, training_order(list(prompts), grpo, seed), backbone),
        processing_class=tokenizer,
        callbacks=[_Watch(grpo, log, is_stopped)],
    )
    trainer.remove_callback(PrinterCallback)  # it prints what `log` and the logger have
    checkpoint = _last_checkpoint(folder / "checkpoints")
    if checkpoint is not None:
        logger.info("Training goes on from %s", checkpoint)
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    curve = _curve(trainer.state.log_history, grpo)
    if trainer.state.global_step >= grpo.num_steps * grpo.updates_per_step:
        _write(model, tokenizer, curve, model_folder, backbone)
    return curve


def _arguments(grpo: Grpo, folder: Path, seed: int, backbone: Backbone) -> Any:
    """The trainer's settings; its steps are our updates, `updates_per_step` to one of ours."""
    passes = grpo.sequences_per_step // grpo.sequences_per_pass
    return GRPOConfig(
        output_dir=str(folder),
        max_steps=grpo.num_steps * grpo.updates_per_step,
        learning_rate=grpo.learning_rate,
        lr_scheduler_type=grpo.schedule,
        warmup_steps=grpo.warmup_steps * grpo.updates_per_step,
        optim=grpo.optimizer,
        per_device_train_batch_size=grpo.sequences_per_pass,
        gradient_accumulation_steps=passes // grpo.updates_per_step,
        steps_per_generation=passes,
        num_generations=grpo.num_votes,
        max_completion_length=grpo.max_tokens,
        temperature=grpo.temperature,
        top_p=grpo.top_p,
        beta=grpo.kl_weight,
        gradient_checkpointing=grpo.gradient_checkpointing,
        bf16=grpo.device == "cuda",
        use_cpu=grpo.device == "cpu",
        use_vllm=grpo.use_vllm,
        vllm_mode="colocate",
        vllm_gpu_memory_utilization=grpo.vllm_memory_share,
        vllm_max_model_length=backbone.max_context_tokens,
        chat_template_kwargs=dict(backbone.template_options),
        shuffle_dataset=False,  # its own shuffle would start again when a training is resumed
        seed=seed,
        data_seed=seed,
        logging_steps=grpo.updates_per_step,
        save_steps=grpo.save_every_steps * grpo.updates_per_step,
        save_total_limit=2,
        report_to=[],
        disable_tqdm=True,
        log_completions=False,
    )


def _dataset(prompts: Mapping[str, Prompt], order: Sequence[str], backbone: Backbone) -> Dataset:
    """The prompts in the order of training, all steps in one epoch."""
    return Dataset.from_list(
        [
            {"question_id": question_id, "prompt": _as_sent(prompts[question_id], backbone)}
            for question_id in order
        ]
    )


def _as_sent(prompt: Prompt, backbone: Backbone) -> str | list[dict[str, str]]:
    """A prompt as it is evaluated: raw text, or messages for the backbone's own template."""
    if backbone.chat_template is ChatTemplate.NONE:
        return prompt.raw
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    return [*system, {"role": "user", "content": prompt.user}]


def _reward_function(reward: VoteReward, updates_per_step: int) -> Callable[..., list[float]]:
    def majority_vote(
        completions: Sequence[Any], question_id: Sequence[str], trainer_state: Any, **_: Any
    ) -> list[float]:
        texts = [c if isinstance(c, str) else c[-1]["content"] for c in completions]
        return reward(texts, question_id, trainer_state.global_step // updates_per_step)

    return majority_vote


class _Watch(TrainerCallback):  # type: ignore[misc]
    """Logs each step, marks checkpoints that are whole, and stops the training on a signal."""

    def __init__(
        self, grpo: Grpo, log: Callable[[int, Mapping[str, float]], None], is_stopped: Callable[[], bool]
    ) -> None:
        self._grpo, self._log, self._is_stopped = grpo, log, is_stopped

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if "reward" not in state.log_history[-1]:
            return
        line = _curve(state.log_history, self._grpo)[-1]
        self._log(int(line["step"]), {f"training/{name}": value for name, value in line.items()})
        logger.info("step %d of %d: reward %.3f", line["step"], self._grpo.num_steps, line["reward"])

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        # Between two updates on the same completions a checkpoint would sample them again.
        if self._is_stopped() and state.global_step % self._grpo.updates_per_step == 0:
            control.should_save = True
            control.should_training_stop = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        (Path(args.output_dir) / f"checkpoint-{state.global_step}" / WHOLE).touch()


def _curve(history: Sequence[Mapping[str, float]], grpo: Grpo) -> Curve:
    """One line a step, under our names; tokens and seconds are the step's own."""
    curve: Curve = []
    processed_before = 0.0
    for entry in history:
        if "reward" not in entry:
            continue
        line = {"step": float(entry["step"]) / grpo.updates_per_step}
        line |= {ours: float(entry[theirs]) for theirs, ours in SHOWN.items() if theirs in entry}
        line["generated_tokens"] = line["mean_completion_tokens"] * grpo.sequences_per_step
        line["processed_tokens"] = entry["num_tokens"] - processed_before
        line["seconds"] = float(entry["step_time"]) * grpo.updates_per_step  # logged as a mean over updates
        processed_before = entry["num_tokens"]
        curve.append(line)
    return curve


def _last_checkpoint(folder: Path) -> Path | None:
    """The latest checkpoint that was written to its end; those that were not are deleted."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    for path in found:
        if not (path / WHOLE).exists():
            shutil.rmtree(path)
    return next((path for path in reversed(found) if path.is_dir()), None)


def _write(model: Any, tokenizer: Any, curve: Curve, model_folder: Path, backbone: Backbone) -> None:
    """Writes the curve, then the model under another name that is changed at last; drops the checkpoints."""
    folder = model_folder.parent
    unfinished = folder / "model.unfinished"
    dtype = _served_dtype(backbone, model)
    (folder / CURVE_NAME).write_text(json.dumps(curve, indent=1), encoding="utf-8")
    model.to(dtype).save_pretrained(str(unfinished))
    tokenizer.save_pretrained(str(unfinished))
    unfinished.rename(model_folder)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)


def _served_dtype(backbone: Backbone, model: Any) -> Any:
    """The dtype that the backbone is evaluated in; what the model has where the backbone says auto."""
    return model.dtype if backbone.dtype == "auto" else getattr(torch, backbone.dtype)
