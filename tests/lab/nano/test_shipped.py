"""The shipped weights load, answer, and say how they were made."""

import hashlib
import json

import pytest
import torch
from transformers import AutoModelForCausalLM

from icpo.benchmarks.arithmetic import questions
from icpo.lab.nano.examples import as_question
from icpo.lab.nano.sampling import Sampler, engine_of
from icpo.lab.nano.solutions import read_answer, right_solution


@pytest.fixture(scope="module")
def nano(nano_folder):
    return AutoModelForCausalLM.from_pretrained(str(nano_folder), dtype=torch.float32).eval()


def test_files_are_small_and_of_a_shape_that_engines_take(nano_folder):
    config = json.loads((nano_folder / "config.json").read_text())
    generation = json.loads((nano_folder / "generation_config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"] and config["model_type"] == "llama"
    assert config["head_dim"] in (32, 64) and config["max_position_embeddings"] == 4096
    assert config["eos_token_id"] == generation["eos_token_id"]
    assert (nano_folder / "model.safetensors").stat().st_size <= 12_000_000


def test_it_solves_one_step_and_summarises_what_it_is_shown(nano, tokenizer, prompts):
    greedy = Sampler(engine_of(nano, tokenizer, max_rows=64), 0.0, 1.0, max_tokens=96)
    problems = questions("dev", "l1", 40)
    texts = greedy.sample([prompts.tagged.plain(as_question(p)).raw for p in problems], 1, seed=0)
    assert sum(read_answer(t) == p.answer for p, [t] in zip(problems, texts, strict=True)) >= 30
    solutions = [right_solution(p.chain) for p in questions("dev", "l3", 20)]
    asked = [prompts.tagged.summary(as_question(problems[0]), w.text).raw for w in solutions]
    summaries = greedy.sample(asked, 1, seed=0)
    assert sum(s == w.summary for [s], w in zip(summaries, solutions, strict=True)) >= 18


def test_the_model_card_names_command_and_configuration(nano_folder):
    card = (nano_folder / "MODEL_CARD.md").read_text()
    assert "+exp=train_nano" in card and "conf/job/train_nano.yaml" in card
    assert hashlib.sha256((nano_folder / "model.safetensors").read_bytes()).hexdigest() in card
