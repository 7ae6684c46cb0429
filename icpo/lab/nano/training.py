"""The training loop: phases of steps, checkpoints, a loss curve; no wall clock decides anything."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from icpo.errors import IcpoError
from icpo.lab.nano.batches import Batch, BatchMaker, load_tokenizer, stream
from icpo.lab.nano.examples import Mixture
from icpo.lab.nano.mistakes import STEP_CLASSES
from icpo.lab.nano.model import Architecture
from icpo.lab.nano.network import Network
from icpo.lab.nano.own_mistakes import OwnMistakes, sample_pools
from icpo.lab.nano.sampling import TEMPERATURE, TOP_P, Sampler, engine_of

logger = logging.getLogger(__name__)
Log = Callable[[Mapping[str, float], int], None]

POOL_SIZE = 16
LEAST = {"num_workers": 0, "checkpoint_every_steps": 1, "log_every_steps": 1, "max_tokens": 1, "max_rows": 1}


class TrainingError(IcpoError):
    """Training that cannot start or go on."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of training on one mixture.

    With `own_problems` above 0 it begins by sampling the model on that many problems; `own_share` of the
    phase's problems are then attempted with the mistakes found.
    """

    num_steps: int
    learning_rate: float
    mixture: Mixture
    own_problems: int
    own_share: float


@dataclass(frozen=True, slots=True)
class Optimisation:
    """AdamW; each phase warms up, holds its rate and decays to a twentieth over its last `decay_share`."""

    warmup_steps: int
    decay_share: float
    weight_decay: float
    betas: tuple[float, float]
    max_gradient_norm: float

    def rate(self, phase: Phase, step: int) -> float:
        """The learning rate of a step of a phase, counted from 0."""
        warm = min(1.0, (step + 1) / max(1, self.warmup_steps))
        left = (phase.num_steps - step) / max(1.0, self.decay_share * phase.num_steps)
        return phase.learning_rate * warm * max(0.05, min(1.0, left))


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

    def __post_init__(self) -> None:
        if self.device not in ("cuda", "cpu"):
            raise ValueError(f"device must be cuda or cpu, got {self.device!r}")
        if not self.phases:
            raise ValueError("phases must hold at least one")
        for name, bound in LEAST.items():
            if getattr(self, name) < bound:
                raise ValueError(f"{name} must be at least {bound}, got {getattr(self, name)}")

    @property
    def num_steps(self) -> int:
        """Steps of all phases."""
        return sum(p.num_steps for p in self.phases)


class Trained(NamedTuple):
    """A trained model and how many examples with tagged ideas it was trained on."""

    model: Any
    num_tagged: int


def train(run: Run, maker: BatchMaker, folder: Path, log: Log) -> Trained:
    """Trains from the last checkpoint in `folder`, or from scratch.

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
            _run_phase(state, run, _phase_maker(state, run, maker, index, folder), first, log)
        first = last
    state.save()
    return Trained(state.model, state.num_tagged)


@dataclass
class _State:
    """Where training stands; `taken` counts the batches used of the current chunk.

    `num_tagged` counts the examples with tagged ideas so far.
    """

    folder: Path
    model: Any
    optimiser: Any
    step: int = 0
    phase: int = 0
    chunk: int = 0
    taken: int = 0
    num_tagged: int = 0

    @classmethod
    def start(cls, run: Run, maker: BatchMaker, folder: Path) -> "_State":
        import torch

        if run.device == "cuda" and not torch.cuda.is_available():
            raise TrainingError("device is cuda, but torch finds no GPU; choose job.training.device=cpu")
        folder.mkdir(parents=True, exist_ok=True)
        model = run.architecture.build(load_tokenizer(maker.tokenizer_folder), run.seed).to(run.device)
        decayed = [p for p in model.parameters() if p.ndim > 1]
        plain = [p for p in model.parameters() if p.ndim == 1]
        optimiser = torch.optim.AdamW(
            [
                {"params": decayed, "weight_decay": run.optimisation.weight_decay},
                {"params": plain, "weight_decay": 0.0},
            ],
            lr=run.phases[0].learning_rate,
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

        place = [self.step, self.phase, self.chunk, self.taken, self.num_tagged]
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
        try:
            self.step, self.phase, self.chunk, self.taken, self.num_tagged = saved["place"]
        except ValueError:
            raise TrainingError(f"{self.file} is of an older version; delete it to train anew") from None
        self.model.load_state_dict(saved["model"])
        self.optimiser.load_state_dict(saved["optimiser"])
        logger.info("training goes on at step %d", self.step)


def _phase_maker(state: _State, run: Run, maker: BatchMaker, index: int, folder: Path) -> BatchMaker:
    """The maker of a phase; collects the model's own mistakes unless an interrupted run has done so."""
    phase = run.phases[index]
    maker = replace(maker, mixture=phase.mixture)
    if not phase.own_problems:
        return maker
    file = folder / f"own_mistakes_{index}.json"
    if not file.exists():
        state.save()
        tokenizer = load_tokenizer(maker.tokenizer_folder)
        engine = engine_of(state.model, tokenizer, max_rows=run.max_rows)
        sampler = Sampler(engine, TEMPERATURE, TOP_P, run.max_tokens)
        pools = sample_pools(
            sampler, maker.prompts, maker.rules, phase.own_problems, POOL_SIZE, run.seed + index
        )
        mistakes = OwnMistakes.of(pools)
        if not set(STEP_CLASSES) <= set(mistakes.offsets):
            raise TrainingError(
                f"phase {index} starts from the model's own mistakes, but writes too few readable solutions; "
                "give the phases before it more steps"
            )
        part = file.with_suffix(".part")
        mistakes.write(part)
        part.replace(file)
        logger.info("own mistakes: %s", {c: len(mistakes.offsets[c]) for c in STEP_CLASSES})
    return replace(maker, own_file=file, own_share=phase.own_share)


def _run_phase(state: _State, run: Run, maker: BatchMaker, first: int, log: Log) -> None:
    phase = run.phases[state.phase]
    last = first + phase.num_steps
    state.model.train()
    batches = stream(maker, state.chunk, run.num_workers)
    started, num_tokens = time.monotonic(), 0
    for chunk in batches:
        for batch in chunk[state.taken :]:
            rate = run.optimisation.rate(phase, state.step - first)
            loss = _train_step(state, run, batch, rate)
            state.step += 1
            state.taken += 1
            state.num_tagged += batch.num_tagged
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


def _train_step(state: _State, run: Run, batch: Batch, rate: float) -> Any:
    """One step of the optimiser; the loss is the mean over the completions' tokens."""
    import torch
    from torch.nn.functional import cross_entropy

    ids, positions, targets = (
        torch.from_numpy(x).to(run.device, non_blocking=True).long()
        for x in (batch.token_ids, batch.positions, batch.targets)
    )
    with _autocast(run.device):
        network = Network(state.model)
        logits = network.logits(network.hidden(ids).flatten(0, 1)[positions])
    loss = cross_entropy(logits, targets)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(state.model.parameters(), run.optimisation.max_gradient_norm)
    for group in state.optimiser.param_groups:
        group["lr"] = rate
    state.optimiser.step()
    state.optimiser.zero_grad(set_to_none=True)
    return loss.detach()


def _autocast(device: str) -> AbstractContextManager[Any]:
    """bfloat16 where it is fast: on a GPU."""
    import torch

    return torch.autocast("cuda", dtype=torch.bfloat16) if device == "cuda" else nullcontext()


def write_scores(scores: Mapping[str, float], path: Path) -> None:
    """Scores as JSON, rounded to four digits."""
    path.write_text(
        json.dumps({k: round(v, 4) for k, v in scores.items()}, indent=1) + "\n", encoding="utf-8"
    )
