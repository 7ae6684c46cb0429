import json
from pathlib import Path

import pytest

import icpo.backbones
from icpo.lab.cost_model.flops import ModelSize, gated_decoder, sampling_flops

TINY = ModelSize(num_parameters=1000, num_layers=2, query_width=10)
REQUEST = dict(num_requests=1, num_sequences=1, prompt_tokens=3, cached_prompt_tokens=0, generated_tokens=2)


def flops(**changes):
    return sampling_flops(TINY, **(REQUEST | changes))


def test_one_request_by_hand():
    # 5 tokens times 2 x 1000; they attend to 1, 2, 3, 4 and 5 positions, 4 x 2 x 10 each.
    assert flops() == 5 * 2000 + 15 * 80


def test_a_cached_prefix_is_not_computed_again_but_attended_to():
    assert flops(cached_prompt_tokens=2) == 3 * 2000 + (3 + 4 + 5) * 80


def test_a_prompt_is_prefilled_once_for_all_its_sequences():
    assert flops(num_sequences=4, generated_tokens=8) == (3 + 8) * 2000 + (6 + 4 * 9) * 80


def test_like_requests_add_up():
    twice = {name: 2 * value for name, value in REQUEST.items()}
    assert flops(**twice) == 2 * flops()


def test_nothing_sampled_costs_nothing():
    assert flops(num_requests=0, num_sequences=0, prompt_tokens=0, generated_tokens=0) == 0


def size_of(name):
    path = Path(icpo.backbones.__file__).parent / name / "config.json"
    return gated_decoder(json.loads(path.read_text()))


def test_parameters_are_those_of_the_matrix_products():
    # 4 layers of 256 x (256 + 64 + 64 + 256) + 3 x 256 x 576, and a head of 860 x 256.
    assert size_of("nano") == ModelSize(2_644_992, 4, 256)
    # 7.07e9: the 7.6e9 of the model less its table of embeddings (152,064 x 3,584) and biases.
    assert size_of("dummy_qwen7b") == ModelSize(7_070_285_824, 28, 3584)


@pytest.mark.parametrize("config", [{"n_embd": 768}, {"num_experts": 8}])
def test_other_architectures_have_no_size(config):
    whole = {
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 9,
    }
    assert gated_decoder(whole) is not None
    assert gated_decoder(whole | config if "num_experts" in config else config) is None
