"""Training batches, made on the fly by worker processes; chunk i depends on the seed and i alone."""

import os
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icpo.benchmarks.arithmetic import Rules
from icpo.lab.nano.examples import Example, Mixture, PromptSet, Task, draw_example, draw_source
from icpo.lab.nano.mistakes import AssumedMistakes
from icpo.lab.nano.own_mistakes import OwnMistakes
from icpo.lab.nano.tokenizer import END
from icpo.seeding import derive_seed

LENGTH_STEP_TOKENS = 16
EXAMPLES_PER_SOURCE = 2


class Row(NamedTuple):
    """The token ids of an example: its prompt, its completion and the end mark."""

    token_ids: list[int]
    num_prompt_tokens: int
    has_tags: bool  # its prompt holds ideas with tags


@dataclass(frozen=True, slots=True)
class Batch:
    """Right-padded token ids, shape (B, T), and what is learned from them.

    `positions` are flat indices into B * T where a completion's token is to be predicted; `targets` are those
    tokens. `num_tagged` of the examples show ideas with tags.
    """

    token_ids: NDArray[np.int32]
    positions: NDArray[np.int32]
    targets: NDArray[np.int32]
    num_tagged: int


@dataclass(frozen=True, slots=True)
class BatchMaker:
    """Makes chunks of batches; picklable, so that workers hold one each.

    `own_share` of the problems are attempted with the model's own mistakes, read from `own_file`.
    """

    tokenizer_folder: Path
    mixture: Mixture
    prompts: PromptSet
    rules: Rules
    seed: int
    examples_per_chunk: int
    tokens_per_batch: int
    own_file: Path | None = None
    own_share: float = 0.0

    def examples(self, index: int) -> list[Example]:
        """The examples of chunk `index`, two about each problem."""
        rng = Random(derive_seed(self.seed, "chunk", index))
        assumed, own = AssumedMistakes(), read_mistakes(self.own_file) if self.own_file else None
        examples = []
        for _ in range(self.examples_per_chunk // EXAMPLES_PER_SOURCE):
            source = draw_source(rng, self.rules, own if own and rng.random() < self.own_share else assumed)
            examples += [
                draw_example(rng, source, self.mixture, self.prompts) for _ in range(EXAMPLES_PER_SOURCE)
            ]
        return examples

    def chunk(self, index: int) -> list[Batch]:
        """The batches of chunk `index`: examples of like length together, the batches in random order."""
        encoded = encode(self.examples(index), load_tokenizer(self.tokenizer_folder))
        encoded.sort(key=lambda row: len(row.token_ids))
        batches: list[Batch] = []
        rows: list[Row] = []
        for row in encoded:
            if rows and (len(rows) + 1) * _padded(len(row.token_ids)) > self.tokens_per_batch:
                batches.append(collate(rows))
                rows = []
            rows.append(row)
        batches.append(collate(rows))
        Random(derive_seed(self.seed, "order", index)).shuffle(batches)
        return batches


@cache
def read_mistakes(path: Path) -> OwnMistakes:
    """The own mistakes of a file, read once a process."""
    return OwnMistakes.read(path)


@cache
def load_tokenizer(folder: Path) -> Any:
    """The bare tokenizer of a folder, read once a process; workers start fast without transformers."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def encode(examples: Sequence[Example], tokenizer: Any) -> list[Row]:
    """The examples' token ids.

    Prompt and completion are encoded apart: at test time the completion's tokens are the model's choice.
    """
    prompts = tokenizer.encode_batch_fast([e.prompt for e in examples], add_special_tokens=False)
    completions = tokenizer.encode_batch_fast([e.completion for e in examples], add_special_tokens=False)
    end = tokenizer.token_to_id(END)
    return [
        Row([*p.ids, *c.ids, end], len(p.ids), e.task in (Task.TAGGED, Task.FORCED))
        for p, c, e in zip(prompts, completions, examples, strict=True)
    ]


def collate(rows: Sequence[Row]) -> Batch:
    """Pads rows to one batch; padding is 0 and never learned."""
    width = _padded(max(len(row.token_ids) for row in rows))
    token_ids = np.zeros((len(rows), width), dtype=np.int32)
    positions, targets = [], []
    for i, (ids, num_prompt_tokens, _) in enumerate(rows):
        token_ids[i, : len(ids)] = ids
        positions.append(np.arange(num_prompt_tokens - 1, len(ids) - 1, dtype=np.int32) + i * width)
        targets.append(ids[num_prompt_tokens:])
    num_tagged = sum(row.has_tags for row in rows)
    return Batch(token_ids, np.concatenate(positions), np.concatenate(targets).astype(np.int32), num_tagged)


def stream(maker: BatchMaker, first_chunk: int, num_workers: int) -> Generator[list[Batch], None, None]:
    """Chunks from `first_chunk` on, in order, without end; 0 workers make them in this process."""
    if num_workers == 0:
        index = first_chunk
        while True:
            yield maker.chunk(index)
            index += 1
    with ProcessPoolExecutor(num_workers, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[list[Batch]]] = deque()
        index = first_chunk
        try:
            while True:
                while len(waiting) < 2 * num_workers:
                    waiting.append(pool.submit(maker.chunk, index))
                    index += 1
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _padded(num_tokens: int) -> int:
    return -(-num_tokens // LENGTH_STEP_TOKENS) * LENGTH_STEP_TOKENS
