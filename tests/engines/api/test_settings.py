"""Settings of the openai engine: checked before anything is sent, and never shown where they are secret."""

import sys
from dataclasses import replace

import pytest

pytest.importorskip("openai")

from icpo.errors import EngineError
from tests.engines.api.conftest import ask, collect, settings, wait
from tests.engines.api.playing import BACKBONE as MODEL


@pytest.mark.parametrize("url", ["127.0.0.1:8999", "localhost:8999/v1", "ftp://one/v1", "http://", ""])
def test_an_address_without_scheme_or_host_is_refused_before_anything_is_sent(server, url):
    with pytest.raises(ValueError, match=rf"base_url .*'{url}'"):
        settings(server, base_url=url)


def test_weights_of_this_package_are_asked_of_no_server(server, start):
    with pytest.raises(EngineError, match=r"backbone=m .*engine=transformers"):
        start(backbone=replace(MODEL, model_id="icpo:nano"))
    assert server.requests == []


def test_preflight_needs_the_key_and_nothing_of_the_server(server, monkeypatch):
    settings(server).preflight()
    monkeypatch.delenv("ICPO_TEST_KEY")
    with pytest.raises(EngineError, match=r"ICPO_TEST_KEY.*api_key_env=null"):
        settings(server).preflight()
    settings(server, api_key_env=None).preflight()
    assert server.requests == []


def test_identity_tells_models_and_templates_apart(start):
    changes = [
        {},
        {"model_id": "other"},
        {"revision": "abc"},
        {"template_options": (("a", 1),)},
        {"chat_template": "none"},
    ]
    assert len({start(replace(MODEL, **change)).identity for change in changes}) == len(changes)
    assert start(max_concurrency=2).identity == start().identity


def test_the_same_model_elsewhere_is_the_same_engine_and_addresses_hold_no_credentials(start):
    one, two = start(base_url="https://me:SECRET@ONE/v1/?key=SECRET"), start(base_url="http://two:8000/v1")
    assert one.identity == two.identity
    assert (one.addresses, two.addresses) == (("one/v1",), ("two:8000/v1",))


def test_headers_may_come_from_the_environment_and_are_not_shown(server, start, monkeypatch):
    monkeypatch.setenv("ICPO_TEST_HEADER", "header-secret")
    engine = start(headers={"X-Team": "maths", "api-key": "$ICPO_TEST_HEADER"})
    collect(engine, [ask()])
    headers = server.requests[0][1]
    assert (headers["X-Team"], headers["api-key"]) == ("maths", "header-secret")
    server.plan = lambda body: (401, "header-secret is wrong")
    engine.submit(1, ask("b"))
    with pytest.raises(EngineError) as caught:
        wait(engine)
    assert "header-secret" not in str(caught.value)
    monkeypatch.delenv("ICPO_TEST_HEADER")
    with pytest.raises(EngineError, match="ICPO_TEST_HEADER"):
        start(headers={"api-key": "$ICPO_TEST_HEADER"})


def test_a_socks_proxy_without_its_package_says_what_to_install(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(EngineError, match="pip install"):
        settings(server).preflight()


@pytest.mark.parametrize(
    "change",
    [
        {"max_concurrency": 0},
        {"timeout_seconds": 0},
        {"max_retries": -1},
        {"max_cost": 1.0},
        {"max_wait_seconds": -1},
        {"headers": {"x-api-key": "sk-1"}},
        {"base_url": []},
    ],
)
def test_bad_settings_are_refused(server, change):
    with pytest.raises(ValueError, match=next(iter(change))):
        settings(server, **change)
