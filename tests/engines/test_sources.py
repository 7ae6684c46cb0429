"""Weights that are not there: what is missing is named, and how it is made."""

from pathlib import Path

import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from icpo.config import config_source
from icpo.config.choices import read_table
from icpo.engines.sources import absence, locate
from icpo.errors import EngineError
from tests.engines.conftest import backbone_of


@pytest.mark.parametrize("name", ["nano_plain", "nano_shuffled"])
def test_a_control_that_was_not_trained_here_says_how_it_is_trained(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model_id = read_table(Path(config_source()) / "backbone/_choices.yaml")[name]["model_id"]
    with pytest.raises(EngineError) as caught:
        locate(backbone_of(tmp_path / name, model_id=model_id))
    for told in (
        f"backbone={name}",
        f"no folder {model_id}",
        "+exp=train_nano",
        "experiments/nano/README.md",
    ):
        assert told in str(caught.value)
    assert "hub" not in str(caught.value) and "Repo id" not in str(caught.value)


@pytest.mark.parametrize("model_id", ["/data/qwen", "./qwen", "~/qwen", "models/qwen/7b", "icpo:gone"])
def test_a_path_is_not_looked_for_on_the_hub(model_id, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EngineError, match=r"backbone\.model_id=FOLDER") as caught:
        locate(backbone_of(tmp_path / "qwen", model_id=model_id))
    assert "train_nano" not in str(caught.value)


@pytest.mark.parametrize(
    ("files", "lacking"),
    [
        ([], r"config\.json, a tokenizer \(tokenizer\.json\), weights \(\*\.safetensors\)\. Give"),
        (["notes.md", "config.json"], r"a tokenizer \(tokenizer\.json\), weights"),
        (["config.json", "model.safetensors"], r"a tokenizer \(tokenizer\.json\)\. Give"),
        (["model-00001-of-00002.safetensors", "tokenizer.model"], r"config\.json\. Give"),
    ],
)
def test_a_folder_without_a_model_is_told_what_it_lacks(files, lacking, tmp_path):
    for name in files:
        (tmp_path / name).write_text("{}")
    with pytest.raises(EngineError, match=rf"{tmp_path}.*{lacking}") as caught:
        locate(backbone_of(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tokenizer", ["tokenizer.json", "vocab.txt", "spiece.model", "qwen.tiktoken"])
def test_any_tokenizer_will_do_and_a_shape_needs_no_weights(tokenizer, tmp_path):
    for name in ("config.json", tokenizer):
        (tmp_path / name).write_text("{}")
    assert locate(backbone_of(tmp_path)).folder == tmp_path


def test_a_folder_is_known_by_the_contents_of_its_files(tmp_path):
    revisions = []
    for content in ("{}", "{}", '{"a": 1}'):
        (tmp_path / "config.json").write_text(content)
        (tmp_path / "tokenizer.json").write_text("{}")
        (tmp_path / "notes.md").write_text(f"{len(revisions)} not digested")
        source = locate(backbone_of(tmp_path))
        assert source.folder == tmp_path
        revisions.append(source.revision)
    assert revisions[0] == revisions[1] != revisions[2]


@pytest.mark.parametrize("model_id", ["gpt2", "some-owner/some-model"])
def test_a_hub_id_that_cannot_be_had_is_told_with_its_reason(model_id, tmp_path, monkeypatch):
    def unreachable(name, *, revision, ignore_patterns):
        raise OSError(f"no way to {name}\nsecond line")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(EngineError, match=rf"{model_id} .*no way to {model_id}") as caught:
        locate(backbone_of(tmp_path / "model", model_id=model_id))
    assert "\n" not in str(caught.value)


def test_absent_weights_are_told_of_without_asking_the_hub(tmp_path, monkeypatch):
    def cached(name, *, revision, local_files_only):
        assert local_files_only
        if name == "owner/gone":
            raise LocalEntryNotFoundError("not cached")

    monkeypatch.setattr("huggingface_hub.snapshot_download", cached)
    assert absence(backbone_of(tmp_path)) is None
    assert absence(backbone_of(tmp_path, model_id="owner/here")) is None
    gone = absence(backbone_of(tmp_path, name="theirs", model_id="owner/gone", revision="abc"))
    assert gone.startswith("backbone=theirs: owner/gone (revision abc) is not in the cache")
    assert "backbone.model_id=FOLDER" in gone
    assert f"no folder {tmp_path}/gone" in absence(backbone_of(tmp_path / "gone"))
