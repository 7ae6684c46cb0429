"""The forward pass for training and the engine in memory compute what LlamaForCausalLM computes."""

import pytest
import torch

from icpo.benchmarks.arithmetic import questions
from icpo.lab.nano.examples import as_question
from icpo.lab.nano.model import Architecture
from icpo.lab.nano.network import Network
from icpo.lab.nano.sampling import Sampler, engine_of

TINY = Architecture(width=64, num_layers=2, num_heads=2, num_key_value_heads=1, hidden_width=96)


@pytest.fixture(scope="module")
def model(tokenizer):
    model = TINY.build(tokenizer, seed=0).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)  # far from uniform, so that greedy choices are clear
    return model


@pytest.fixture(scope="module")
def raws(prompts):
    return [
        prompts.tagged.plain(as_question(p)).raw for level in ("l1", "l4") for p in questions("dev", level, 3)
    ]


def test_logits_equal_those_of_transformers(model):
    ids = torch.randint(2, 800, (3, 40), generator=torch.Generator().manual_seed(0))
    network = Network(model)
    with torch.no_grad():
        assert torch.allclose(network.logits(network.hidden(ids)), model(input_ids=ids).logits, atol=1e-4)


def test_greedy_samples_equal_generate(model, tokenizer, raws):
    sampler = Sampler(engine_of(model, tokenizer, max_rows=4), 0.0, 1.0, max_tokens=30)
    for raw, [text, again] in zip(raws, sampler.sample(raws, 2, seed=0), strict=True):
        ids = torch.tensor([tokenizer.encode(raw, add_special_tokens=False).ids])
        made = model.generate(ids, max_new_tokens=30, do_sample=False)[0, ids.shape[1] :].tolist()
        assert text == again == tokenizer.decode(made, skip_special_tokens=True)


def test_draws_follow_the_seed_and_top_p(model, tokenizer, raws):
    engine = engine_of(model, tokenizer, max_rows=64)

    def draw(seed, top_p):
        return Sampler(engine, 1.0, top_p, max_tokens=12).sample(raws, 4, seed=seed)

    assert draw(0, 0.95) == draw(0, 0.95) != draw(1, 0.95)
    greedy = Sampler(engine, 0.0, 1.0, max_tokens=12).sample(raws, 4, seed=5)
    assert draw(0, 1e-6) == greedy


def test_the_engine_keeps_the_weights_it_was_made_with(model, tokenizer, raws):
    engine = engine_of(model, tokenizer, max_rows=64)
    before = Sampler(engine, 0.0, 1.0, max_tokens=12).sample(raws, 1, seed=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(-1.0)
        after = Sampler(engine, 0.0, 1.0, max_tokens=12).sample(raws, 1, seed=0)
        for parameter in model.parameters():
            parameter.mul_(-1.0)
    assert before == after


def test_head_size_must_suit_vllm():
    with pytest.raises(ValueError, match="32 or 64"):
        Architecture(width=96, num_layers=1, num_heads=4, num_key_value_heads=1, hidden_width=64)
