"""Tokenizers that would make every answer unreadable are refused when the engine starts."""

import json
import logging
import shutil

import pytest

from icpo.engines.sources import locate
from icpo.engines.tokenizers import end_tokens, generation_ends, load_tokenizer, messages, tokenize
from icpo.errors import EngineError
from icpo.types import Prompt
from tests.engines.conftest import backbone_of, settings_of

CHATML = (
    "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
NO_SYSTEM_ROLE = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}" + CHATML
)


@pytest.fixture
def folder(llama_folder, tmp_path):
    return shutil.copytree(llama_folder, tmp_path / "model")


def change(folder, name, **values):
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def chat(folder, template, **changes):
    change(folder, "tokenizer_config.json", chat_template=template)
    backbone = backbone_of(folder, chat_template="own", **changes)
    return backbone, load_tokenizer(locate(backbone), backbone)


def test_a_tokenizer_that_drops_spaces_is_refused_by_its_class(folder):
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": ""}
    path.write_text(json.dumps(tokenizer))
    with pytest.raises(EngineError, match=r"thesumof12and30is42.*tokenizer_class"):
        settings_of().start(backbone_of(folder), max_context_tokens=256)


@pytest.mark.parametrize(
    ("template", "changes", "key_words"),
    [
        ("", {}, "no chat template.*chat_template=none"),
        ("<user> hello <assistant>", {}, "drops the user's text"),
        ("<user> {{ messages[-1]['content'] }}", {}, "drops the system text.*system_role=false"),
        (NO_SYSTEM_ROLE, {}, "no system role.*system_role=false"),
        (CHATML + "<think></think>\n", {"reasoning_end": "</think>"}, "reasoning_end=null"),
    ],
)
def test_a_template_that_loses_text_is_refused(folder, template, changes, key_words):
    with pytest.raises(EngineError, match=key_words):
        chat(folder, template, **changes)


def test_without_a_system_role_the_system_text_goes_before_the_users(folder):
    backbone, tokenizer = chat(folder, NO_SYSTEM_ROLE, system_role=False)
    assert messages(backbone, Prompt("be brief.", "6+7?")) == [
        {"role": "user", "content": "be brief.\n\n6+7?"}
    ]
    text = tokenizer.decode(tokenize(tokenizer, backbone, Prompt("be brief.", "6+7?")))
    assert "be brief.\n\n6+7?" in text
    assert backbone.without_system_role and not backbone_of(folder).without_system_role


def test_an_empty_system_text_is_no_message(folder):
    assert messages(backbone_of(folder), Prompt("", "6+7?")) == [{"role": "user", "content": "6+7?"}]


def test_a_templates_own_special_tokens_are_not_added_again(folder):
    path = folder / "tokenizer.json"
    begins = {"Sequence": {"id": "A", "type_id": 0}}
    added = {"SpecialToken": {"id": "<end>", "type_id": 0}}
    processor = {
        "type": "TemplateProcessing",
        "single": [added, begins],
        "pair": [added, begins, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<end>": {"id": "<end>", "ids": [0], "tokens": ["<end>"]}},
    }
    path.write_text(json.dumps(json.loads(path.read_text()) | {"post_processor": processor}))
    backbone, tokenizer = chat(folder, "{% for m in messages %}{{ m['content'] }}\n{% endfor %}")
    assert tokenizer("a")["input_ids"][0] == 0
    assert tokenize(tokenizer, backbone, Prompt("be brief.", "6+7?"))[0] != 0


def test_a_template_that_inserts_todays_date_is_named_unless_it_is_pinned(folder, caplog):
    dated = CHATML + "{% if date_string is not defined %}{{ strftime_now('%d %b %Y') }}{% endif %}"
    chat(folder, dated, template_options={"date_string": "26 Jul 2024"})
    assert not caplog.records
    chat(folder, dated)
    assert "date_string" in caplog.text


@pytest.mark.parametrize(
    ("ends", "wanted", "word"),
    [(5, [0, 5], "differ|all of them"), ([0, 7], [0, 7], ""), (None, [0], ""), ([], [0], "")],
)
def test_end_tokens_are_those_of_both_files(folder, ends, wanted, word, caplog):
    tokenizer = load_tokenizer(locate(backbone_of(folder)), backbone_of(folder))
    assert end_tokens(tokenizer, backbone_of(folder), ends) == wanted
    assert bool(caplog.records) == bool(word)


def test_no_end_token_at_all_is_warned_of(folder, caplog):
    tokenizer = load_tokenizer(locate(backbone_of(folder)), backbone_of(folder))
    tokenizer.eos_token = None
    with caplog.at_level(logging.WARNING):
        assert end_tokens(tokenizer, backbone_of(folder), None) == []
    assert "runs to its limit" in caplog.text


def test_ends_are_read_from_generation_config_or_else_config(folder):
    assert generation_ends(folder) == 0
    change(folder, "generation_config.json", eos_token_id=[3, 4])
    assert generation_ends(folder) == [3, 4]
    (folder / "generation_config.json").unlink()
    change(folder, "config.json", eos_token_id=9)
    assert generation_ends(folder) == 9
