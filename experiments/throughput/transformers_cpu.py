"""Tokens per second of the transformers engine on a CPU, beside those of transformers' own generate.

    python experiments/throughput/transformers_cpu.py [--threads 2] [--backbone FOLDER]

Two stages of ME-ICPO at quickstart's size: look-aheads (8 questions, 8 prompts each that differ in their last
idea, 8 samples a prompt) and summaries (one sample a prompt). `generate` gets the same prompts and draws as
many tokens, in batches of 64; no end token is set on either side, so that the work is equal.
"""

import argparse
import csv
import logging
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers

from icpo.engines.local.decoding import Model, decode_rows
from icpo.engines.local.endings import Endings, Row
from icpo.engines.local.llama import Llama
from icpo.types import Sampling

log = logging.getLogger(__name__)

# Prompts that share a stem, questions, samples a prompt, stem tokens, own tokens, generated tokens.
STAGES = {
    "lookahead": (8, 8, 8, 500, 60, 100),
    "summary": (8, 8, 1, 150, 150, 60),
}
SHAPE = {
    "vocab_size": 1024,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 5,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
}


def main() -> None:
    """Measures and prints CSV: stage, who, dtype, rows, tokens/s, ratio to generate."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backbone", help="folder of a Llama model; default: 3M random parameters")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    writer = csv.writer(sys.stdout)
    writer.writerow(["stage", "who", "dtype", "threads", "rows", "tokens_per_second", "ratio_to_generate"])
    for stage in STAGES:
        models = {dtype: load(options.backbone, dtype) for dtype in ("float32", "bfloat16")}
        base = None
        for who in ("generate", "engine"):
            for dtype, model in models.items():
                rows = rows_of(stage, model.config.vocab_size)
                run = by_generate if who == "generate" else by_engine
                speed = tokens_per_second(run, model, rows)
                base = speed if base is None else max(base, speed) if who == "generate" else base
                ratio = "" if who == "generate" else f"{speed / base:.2f}"
                writer.writerow([stage, who, dtype, options.threads, len(rows), f"{speed:.0f}", ratio])
                sys.stdout.flush()


def load(folder: str | None, dtype: str) -> Any:
    """The model, without an end token."""
    if folder:
        model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    else:
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SHAPE))
    model.generation_config = transformers.GenerationConfig(pad_token_id=0)
    return model.eval().to(getattr(torch, dtype))


def rows_of(stage: str, vocabulary: int) -> list[Row]:
    """The rows of a stage, of random tokens from a fixed seed."""
    same, questions, samples, stem_tokens, own_tokens, generated = STAGES[stage]
    draw = random.Random(0)
    prompts = []
    for _ in range(questions):
        stem = tuple(draw.randrange(vocabulary) for _ in range(stem_tokens))
        prompts += [stem + tuple(draw.randrange(vocabulary) for _ in range(own_tokens)) for _ in range(same)]
    sampling = Sampling(
        temperature=0.6,
        top_p=0.95,
        max_tokens=generated,
        min_tokens=0,
        repetition_penalty=1.0,
        stop=(),
        min_room_tokens=1,
        top_k=None,
        min_p=None,
    )
    return [
        Row(p, sampling, 100 * i + j, i, j) for i, p in enumerate(sorted(prompts)) for j in range(samples)
    ]


def by_engine(model: Any, rows: list[Row]) -> int:
    """Draws the rows with the engine's own loop."""
    ends = Endings([], lambda tokens: "", model.config.vocab_size)
    lean: Model = Llama(model)
    return sum(drawn.num_tokens for drawn in decode_rows(lean, rows, ends))


def by_generate(model: Any, rows: list[Row]) -> int:
    """Draws the rows with `generate`, 64 at a time."""
    total = 0
    for start in range(0, len(rows), 64):
        part = rows[start : start + 64]
        prompts = torch.tensor([row.prompt for row in part])
        out = model.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            do_sample=True,
            temperature=0.6,
            top_p=0.95,
            top_k=0,
            max_new_tokens=part[0].sampling.max_tokens,
        )
        total += out.numel() - prompts.numel()
    return total


def tokens_per_second(run: Callable[[Any, list[Row]], int], model: Any, rows: list[Row]) -> float:
    """Generated tokens per second, prefill included, after a short warm-up."""
    with torch.inference_mode():
        run(model, rows[:8])
        start = time.perf_counter()
        tokens = run(model, rows)
    return tokens / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
