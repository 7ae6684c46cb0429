"""Small real backbones: their settings, tried on a tiny model in a folder with a template like theirs."""

import json
import shutil
from dataclasses import replace

import pytest

from icpo.config import build
from icpo.errors import EngineError
from tests.composing import composed
from tests.engines.conftest import settings_of
from tests.engines.contract import as_many_as_asked
from tests.engines.test_tokenizers import CHATML, NO_SYSTEM_ROLE

SMALL = ("smollm2_135m", "smollm2_360m", "smollm2_1_7b", "qwen2_5_0_5b", "qwen2_5_1_5b", "qwen2_5_math_1_5b")
SMALL += ("qwen3_0_6b", "llama3_2_1b")
DATED = CHATML + "{% if date_string is not defined %}{{ strftime_now('%d %b %Y') }}{% endif %}"


def backbone_of(name, folder):
    backbone = build(composed("+exp=quickstart", f"backbone={name}").backbone)
    assert "/" in backbone.model_id and backbone.name == name
    return replace(backbone, model_id=str(folder), max_context_tokens=256)


def start(backbone):
    return settings_of().start(backbone, max_context_tokens=256)


def folder_with(template, llama_folder, tmp_path):
    folder = shutil.copytree(llama_folder, tmp_path / "model")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"chat_template": template}))
    return folder


@pytest.mark.parametrize("name", SMALL)
def test_a_small_backbone_answers(name, llama_folder, tmp_path, caplog):
    as_many_as_asked(start(backbone_of(name, folder_with(DATED, llama_folder, tmp_path))), 256)
    is_warned = "date_string" in caplog.text
    assert is_warned != (name == "llama3_2_1b")


def test_gemma_has_no_system_role(llama_folder, tmp_path):
    folder = folder_with(NO_SYSTEM_ROLE, llama_folder, tmp_path)
    as_many_as_asked(start(backbone_of("gemma3_1b", folder)), 256)
    with pytest.raises(EngineError, match=r"backbone\.system_role=false"):
        start(backbone_of("qwen2_5_0_5b", folder))
