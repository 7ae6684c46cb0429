"""Secrets are masked and control characters escaped, by one list and in one way."""

import pytest

from icpo.safe_text import (
    HIDDEN,
    escaped,
    has_plain_secret,
    masked,
    masked_text,
    names_a_secret,
    plain_secrets,
)


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "openai_api_key", "hf_token", "HF_TOKEN", "token", "access_token", "password",
     "key", "auth", "authorization", "client_secret", "credentials", "passphrase", "engine.api_key"],
)  # fmt: skip
def test_names_of_secrets(name):
    assert names_a_secret(name)


@pytest.mark.parametrize(
    "name", ["api_key_env", "max_tokens", "eos_token", "pad_token", "author", "monkey", "keys", "tokenizer"]
)
def test_names_of_other_settings(name):
    assert not names_a_secret(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:pw@host/v1", "http://(hidden)@host/v1"),
        ("GET https://h/v1?a=1&api_key=sk-1 failed", "GET https://h/v1?a=1&api_key=(hidden) failed"),
        ("https://h?sig=abc#x", "https://h?sig=(hidden)#x"),
        ("export HF_TOKEN=hf_1 A=2", "export HF_TOKEN=(hidden) A=2"),
        ("export HF_TOKEN=$HF_TOKEN, mail a@b.c, x?y=1", "export HF_TOKEN=$HF_TOKEN, mail a@b.c, x?y=1"),
    ],
)
def test_secrets_in_texts_are_hidden_and_hiding_twice_changes_nothing(text, shown):
    assert masked_text(text) == masked_text(shown) == shown


def test_secrets_are_hidden_at_any_depth_and_nothing_else_is():
    config = {
        "engine": {"api_key": "sk-1", "api_key_env": "OPENAI_API_KEY", "headers": [{"token": "t"}]},
        "max_tokens": 500,
        "token": None,
        "HF_TOKEN": "hf",
    }
    assert masked(config) == {
        "engine": {"api_key": HIDDEN, "api_key_env": "OPENAI_API_KEY", "headers": [{"token": HIDDEN}]},
        "max_tokens": 500,
        "token": None,
        "HF_TOKEN": HIDDEN,
    }


def test_secrets_that_a_variable_holds_are_not_plain():
    settings = {"engine": {"api_key": "${oc.env:KEY}", "headers": [{"token": "t"}]}, "url": "http://a:b@c"}
    assert list(plain_secrets(settings)) == ["engine.headers.token", "url"]


@pytest.mark.parametrize(
    ("address", "is_plain"),
    [
        ("http://bob:${oc.env:KEY}@host/v1", False),
        ("http://${oc.env:KEY}@host/v1", False),
        ("${oc.env:ADDRESS}/v1?api_key=${oc.env:KEY}", False),
        ("http://bob:hunter2@${oc.env:HOST}/v1", True),
        ("http://hunter2@${oc.env:HOST}/v1", True),
        ("http://${oc.env:HOST}/v1?api_key=hunter2", True),
    ],
)
def test_an_address_may_take_its_secrets_from_variables_alone(address, is_plain):
    assert has_plain_secret(address) == is_plain
    assert list(plain_secrets({"base_url": address})) == ["base_url"] * is_plain


def test_what_a_terminal_obeys_is_escaped_and_the_rest_stays():
    assert escaped("a\x1b[2Jb\x9b\u202ec\r\ud800") == "a\\x1b[2Jb\\x9b\\u202ec\\r\\ud800"
    assert escaped("naïve 北京 👩‍👧 \t\n") == "naïve 北京 👩‍👧 \t\n"
