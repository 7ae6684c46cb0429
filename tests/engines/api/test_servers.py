"""When calls start, and at which server."""

from dataclasses import replace

import pytest

pytest.importorskip("openai")

from icpo.errors import EngineError
from tests.engines.api.conftest import ask, collect, faulty_once, settings, wait
from tests.engines.api.playing import BACKBONE as MODEL
from tests.engines.openai_server import Server, after


def test_retry_after_holds_back_all_calls(server, start):
    server.plan = faulty_once("429 retry-after")
    engine = start(max_concurrency=1)
    collect(engine, [ask("a"), ask("b")])
    times = [at for *_, at in server.requests]
    assert times[1] - times[0] >= 0.95, "the server's wait was not honoured"


def test_a_server_that_is_not_there_is_named():
    with Server() as gone:
        url = gone.base_url
    engine = replace(settings(gone), base_url=url, max_retries=1).start(MODEL, max_context_tokens=100)
    engine.submit(0, ask())
    with pytest.raises(EngineError, match=rf"{url} .*no connection.*engine\.base_url"):
        wait(engine)
    assert engine.spent.requests == 0, "what never reached a server costs nothing"
    engine.close()


def test_calls_in_flight_are_bounded_and_run_beside_one_another(server, start):
    server.plan = lambda body: after(0.7)
    collect(start(max_concurrency=6, timeout_seconds=9), [ask(f"q{i}") for i in range(12)])
    assert server.max_open == 6


def test_calls_are_spread_over_servers_by_load_and_go_round_one_that_is_gone(server, start):
    with Server(lambda body: after(0.7)) as other:
        engine = start(base_url=[server.base_url, other.base_url], timeout_seconds=9)
        server.plan = lambda body: after(0.7)
        collect(engine, [ask(f"q{i}") for i in range(6)])
        assert len(server.requests) == len(other.requests) == 3
    with Server() as gone:
        pass
    server.plan = lambda body: None
    collect(start(base_url=[gone.base_url, server.base_url]), [ask(f"r{i}") for i in range(6)])
    assert len(server.requests) == 9


def test_calls_are_spaced(server, start):
    collect(start(requests_per_minute=120), [ask(f"q{i}") for i in range(4)])
    times = sorted(at for *_, at in server.requests)
    assert times[-1] - times[0] >= 1.0
