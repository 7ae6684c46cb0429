"""A tiny random model with a tokenizer of single characters, in a folder as a user's model would be."""

from pathlib import Path

import pytest

from icpo.backbones import Backbone, ChatTemplate
from icpo.engines.local.transformers import Transformers

CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789 .\n?=+"


def backbone_of(folder: Path, **changes) -> Backbone:
    values = {
        "name": folder.name,
        "model_id": str(folder),
        "revision": None,
        "max_context_tokens": 256,
        "dtype": "float32",
        "chat_template": ChatTemplate.NONE,
        "tensor_parallel": 1,
        "reasoning_end": None,
        "gpu_memory_gb": 1,
        "template_options": (),
        "max_answer_tokens": None,
        "thinking_tokens": 0,
        "system_role": True,
    }
    return Backbone(**{**values, **changes})


def settings_of(**changes) -> Transformers:
    values = {
        "name": "transformers",
        "device": "cpu",
        "dtype": "backbone",
        "block_questions": 2,
        "max_batch_rows": 16,
    }
    return Transformers(**{**values, **changes})


def write_model(folder: Path, config) -> Path:
    """Saves a model of random, lively weights and its tokenizer; id 0 ends a text."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    model.generation_config.eos_token_id = 0
    model.save_pretrained(folder)
    vocabulary = {"<end>": 0, **{c: i for i, c in enumerate(CHARACTERS, start=1)}}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<end>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def llama_folder(tmp_path_factory) -> Path:
    from transformers import LlamaConfig

    config = LlamaConfig(
        vocab_size=len(CHARACTERS) + 1,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=256,
        attention_bias=True,
        bos_token_id=None,
        eos_token_id=0,
    )
    return write_model(tmp_path_factory.mktemp("llama"), config)


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory) -> Path:
    from transformers import GPT2Config

    size = len(CHARACTERS) + 1
    config = GPT2Config(vocab_size=size, n_positions=256, n_embd=32, n_layer=2, n_head=2, eos_token_id=0)
    return write_model(tmp_path_factory.mktemp("gpt2"), config)
