"""The training loop: phases of steps, checkpoints, a loss curve; no wall clock decides anything."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from icpo.errors import IcpoError
from icpo.nano.batches import Batch, BatchMaker, load_tokenizer, read_pools, stream
from icpo.nano.model import Architecture
from icpo.nano.own_samples import sample_pools
from icpo.nano.sampling import Sampler

logger = logging.getLogger(__name__)
Log = Callable[[Mapping[str, float], int], None]

POOL_SIZE = 16


class TrainingError(IcpoError):
    """Training that cannot start or go on."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of training. With `own_problems` above 0 it begins by sampling that many pools from the model."""

    num_steps: int
    own_problems: int
    own_share: float


@dataclass(frozen=True, slots=True)
class Optimisation:
    """AdamW with a warm-up, a constant rate and a linear decay to a twentieth over the last `decay_share`."""

    learning_rate: float
    warmup_steps: int
    decay_share: float
    weight_decay: float
    betas: tuple[float, float]
    max_gradient_norm: float

    def rate(self, step: int, num_steps: int) -> float:
        """The learning rate of a step, counted from 0."""
        warm = min(1.0, (step + 1) / max(1, self.warmup_steps))
        left = (num_steps - step) / max(1.0, self.decay_share * num_steps)
        return self.learning_rate * warm * max(0.05, min(1.0, left))


@dataclass(frozen=True, slots=True)
class Run:
    """What one training run is: sizes, phases, optimisation, where it runs and how often it reports.

    `max_tokens` bounds the model's own samples.
    """

    architecture: Architecture
    phases: tuple[Phase, ...]
    optimisation: Optimisation
    device: str
    num_workers: int
    checkpoint_every_steps: int
    log_every_steps: int
    max_tokens: int
    max_rows: int
    seed: int

    @property
    def num_steps(self) -> int:
        """Steps of all phases."""
        return sum(p.num_steps for p in self.phases)


def train(run: Run, maker: BatchMaker, folder: Path, log: Log) -> Any:
    """Trains from the last checkpoint in `folder`, or from scratch; returns the model.

    A run that was stopped and started again ends with the same weights as an uninterrupted one, on the same
    kind of device.
    """
    state = _State.start(run, maker, folder)
    first = 0
    for index, phase in enumerate(run.phases):
        last = first + phase.num_steps
        if state.step < last:
            if state.phase != index:
                state.phase, state.chunk, state.taken = index, index * 1_000_000, 0
            _run_phase(state, run, _phase_maker(state, run, maker, index, folder), last, log)
        first = last
    state.save()
    return state.model


@dataclass
class _State:
    """Where training stands; `taken` counts the batches used of the current chunk."""

    folder: Path
    model: Any
    optimiser: Any
    step: int = 0
    phase: int = 0
    chunk: int = 0
    taken: int = 0

    @classmethod
    def start(cls, run: Run, maker: BatchMaker, folder: Path) -> "_State":
        import torch

        if run.device == "cuda" and not torch.cuda.is_available():
            raise TrainingError("device is cuda, but torch finds no GPU; choose device=cpu")
        folder.mkdir(parents=True, exist_ok=True)
        model = run.architecture.build(load_tokenizer(maker.tokenizer_folder), run.seed).to(run.device)
        decayed = [p for p in model.parameters() if p.ndim > 1]
        plain = [p for p in model.parameters() if p.ndim == 1]
        optimiser = torch.optim.AdamW(
            [
                {"params": decayed, "weight_decay": run.optimisation.weight_decay},
                {"params": plain, "weight_decay": 0.0},
            ],
            lr=run.optimisation.learning_rate,
            betas=run.optimisation.betas,
            fused=run.device == "cuda",
        )
        state = cls(folder, model, optimiser)
        state.load(run.device)
        return state

    @property
    def file(self) -> Path:
        return self.folder / "checkpoint.pt"

    def save(self) -> None:
        """Writes the checkpoint; a torn write leaves the former one."""
        import torch

        place = [self.step, self.phase, self.chunk, self.taken]
        part = self.file.with_suffix(".part")
        torch.save(
            {"model": self.model.state_dict(), "optimiser": self.optimiser.state_dict(), "place": place}, part
        )
        part.replace(self.file)

    def load(self, device: str) -> None:
        import torch

        if not self.file.exists():
            return
        saved = torch.load(self.file, map_location=device, weights_only=True)
        self.model.load_state_dict(saved["model"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.step, self.phase, self.chunk, self.taken = saved["place"]
        logger.info("training goes on at step %d", self.step)


def _phase_maker(state: _State, run: Run, maker: BatchMaker, index: int, folder: Path) -> BatchMaker:
    """The maker of a phase; samples the model's own pools unless an interrupted run has done so."""
    phase = run.phases[index]
    if not phase.own_problems:
        return maker
    file = folder / f"own_pools_{index}.jsonl"
    if not file.exists():
        state.save()
        tokenizer = load_tokenizer(maker.tokenizer_folder)
        sampler = Sampler(state.model.eval(), tokenizer, 0.6, 0.95, run.max_tokens, run.max_rows)
        with _autocast(run.device):
            pools = sample_pools(sampler, maker.prompts, maker.rules, phase.own_problems, POOL_SIZE, run.seed + index)
        if not pools.pools:
            raise TrainingError(
                f"phase {index} samples its own pools, but the model writes no readable solution yet; "
                "give the phases before it more steps"
            )
        part = file.with_suffix(".part")
        pools.write(part)
        part.replace(file)
        logger.info("sampled %d own pools", len(pools.pools))
    read_pools.cache_clear()
    return replace(maker, own_pools_file=file, own_share=phase.own_share)


def _run_phase(state: _State, run: Run, maker: BatchMaker, last: int, log: Log) -> None:
    state.model.train()
    batches = stream(maker, state.chunk, run.num_workers)
    started, num_tokens = time.monotonic(), 0
    for chunk in batches:
        for batch in chunk[state.taken :]:
            loss = _train_step(state, run, batch)
            state.step += 1
            state.taken += 1
            num_tokens += batch.token_ids.size
            if state.step % run.log_every_steps == 0 or state.step == last:
                speed = num_tokens / (time.monotonic() - started)
                log({"train/loss": float(loss), "train/tokens_per_second": speed}, state.step)
            if state.step % run.checkpoint_every_steps == 0:
                state.save()
            if state.step == last:
                batches.close()
                return
        state.chunk += 1
        state.taken = 0


def _train_step(state: _State, run: Run, batch: Batch) -> Any:
    """One step of the optimiser; the loss is the mean over the completions' tokens."""
    import torch
    from torch.nn.functional import cross_entropy

    ids, positions, targets = (
        torch.from_numpy(x).to(run.device, non_blocking=True)
        for x in (batch.token_ids.astype("int64"), batch.positions, batch.targets)
    )
    with _autocast(run.device):
        hidden = state.model.model(input_ids=ids, use_cache=False).last_hidden_state
        logits = state.model.lm_head(hidden.flatten(0, 1)[positions])
    loss = cross_entropy(logits.float(), targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(state.model.parameters(), run.optimisation.max_gradient_norm)
    for group in state.optimiser.param_groups:
        group["lr"] = run.optimisation.rate(state.step, run.num_steps)
    state.optimiser.step()
    state.optimiser.zero_grad(set_to_none=True)
    return loss.detach()


def _autocast(device: str) -> AbstractContextManager[Any]:
    """bfloat16 where it is fast: on a GPU."""
    import torch

    return torch.autocast("cuda", dtype=torch.bfloat16) if device == "cuda" else nullcontext()


def write_scores(scores: Mapping[str, float], path: Path) -> None:
    """Scores as JSON, rounded to four digits."""
    path.write_text(json.dumps({k: round(v, 4) for k, v in scores.items()}, indent=1) + "\n", encoding="utf-8")
