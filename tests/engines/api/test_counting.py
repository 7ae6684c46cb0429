"""Tokens of replies that name none."""

from dataclasses import replace

from icpo.engines.api.counting import TokenCounter
from tests.engines.api.playing import BACKBONE
from tests.engines.conftest import backbone_of


def test_a_tokenizer_in_a_folder_counts(llama_folder):
    counter = TokenCounter(backbone_of(llama_folder))
    assert counter.count("1 + 1 = 2") == 9
    assert "tokenizer" in counter.method


def test_without_one_tokens_are_estimated_from_bytes(tmp_path):
    counter = TokenCounter(replace(BACKBONE, model_id="served-name/" + tmp_path.name))
    assert (counter.count("x" * 41), counter.count("\ud83d")) == (10, 0)
    assert "estimated" in counter.method


def test_a_folder_without_a_usable_tokenizer_is_no_obstacle(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert TokenCounter(backbone_of(tmp_path)).count("x" * 40) == 10
