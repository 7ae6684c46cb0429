"""The sampling loop over one batch: sample, end, drop, step."""

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from threading import Event
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from icpo.engines.local.attention import Members, survivors
from icpo.engines.local.endings import Ended, Endings, Row
from icpo.engines.local.prefixes import Tokens
from icpo.engines.local.sampling import BLOCK_TOKENS, Randomness, RowSettings, sample_tokens

# Of a batch: a GPU drags ended rows along for less than it takes to move the others.
GPU_DRAGGED_SHARE = 1 / 8


class Batch(Protocol):
    """Rows of a model that generate in step."""

    logits: Tensor

    def step(self, tokens_B: Tensor) -> None:
        """Appends one token to each row and computes the next logits."""

    def keep(self, rows: Members) -> None:
        """Goes on with these rows alone, in this order (`attention.survivors`)."""


class Model(Protocol):
    """A model that opens batches."""

    def begin(self, prompts: Sequence[Tokens], num_samples: Sequence[int]) -> Batch:
        """Prefills distinct, sorted prompts; opens `num_samples[i]` rows of prompt i, in order."""


def decode_side_by_side(
    model: Model, batches: Sequence[Sequence[Row]], endings: Endings
) -> Iterator[list[Ended]]:
    """`decode_rows` of each batch: as many at once as torch has threads, each on a thread of its own.

    For a small model on a CPU: its matrices are too small to share among threads, which would wait for one
    another in every operation. An error or a signal ends all of them at their next token.
    """
    is_over = Event()

    @torch.inference_mode()  # it holds for the thread that enters it
    def decode(rows: Sequence[Row]) -> list[Ended]:
        return decode_rows(model, rows, endings, is_over)

    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(num_threads) as pool:
            try:
                yield from pool.map(decode, batches)
            finally:
                is_over.set()  # after an error or a signal nobody waits for the other batches
    finally:
        torch.set_num_threads(num_threads)


def decode_rows(
    model: Model, rows: Sequence[Row], endings: Endings, is_over: Event | None = None
) -> list[Ended]:
    """Samples rows, sorted by prompt, as one batch. Raises CancelledError once `is_over` is set."""
    firsts = [i for i, row in enumerate(rows) if i == 0 or row.prompt != rows[i - 1].prompt]
    batch = model.begin([rows[i].prompt for i in firsts], np.diff([*firsts, len(rows)]).tolist())
    device, vocabulary = batch.logits.device, batch.logits.shape[-1]
    settings = RowSettings.of(
        [row.sampling for row in rows], [row.prompt for row in rows], vocabulary, device
    )
    randomness = Randomness([row.seed for row in rows])
    end_ids = torch.tensor(endings.end_ids, dtype=torch.long, device=device)
    suspects = endings.suspects(rows)
    limits = np.array([row.sampling.max_tokens for row in rows])
    tokens = np.zeros((len(rows), limits.max()), dtype=np.int64)
    dragged = 0 if device.type == "cpu" else GPU_DRAGGED_SHARE
    ended: dict[int, Ended] = {}
    held, is_open = np.arange(len(rows)), np.ones(len(rows), dtype=bool)

    for step in range(limits.max()):
        if is_over is not None and is_over.is_set():
            raise CancelledError
        if step % BLOCK_TOKENS == 0:
            numbers = torch.from_numpy(randomness.block(held)).to(device)
        fresh = sample_tokens(batch.logits, settings, numbers[step % BLOCK_TOKENS], step, end_ids)
        tokens[held, step] = fresh.cpu().numpy()
        may_end = suspects[tokens[held, step]] | (step + 1 >= limits[held])
        for place in np.flatnonzero(is_open & may_end):
            row = int(held[place])
            if end := endings.end(rows[row], tokens[row, : step + 1].tolist()):
                ended[row], is_open[place] = end, False
        if not is_open.any():
            break
        if (size := _rounded(int(is_open.sum()))) < len(held) * (1 - dragged):
            order = survivors(_padded(is_open, size))
            index = torch.from_numpy(order).to(device)
            batch.keep(order)
            settings, numbers, fresh = settings.keep(index), numbers[:, index], fresh[index]
            held, is_open = held[order], is_open[order]
        batch.step(fresh)
    return [ended[row] for row in range(len(rows))]


def _rounded(size: int) -> int:
    """A batch size at least `size`; few sizes occur, since matrix kernels are prepared again for each."""
    step = 32 if size > 128 else 8
    return -(-size // step) * step


def _padded(is_open: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Marks `size` rows: the open ones, and the first of the others, which are dragged along unread."""
    marked = is_open.copy()
    marked[np.flatnonzero(~is_open)[: size - int(is_open.sum())]] = True
    return marked
