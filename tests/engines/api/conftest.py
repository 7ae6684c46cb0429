"""Engines for a server on loopback, started and closed by a test, and how they are used."""

from dataclasses import replace

import pytest

from icpo.types import Prompt, Purpose, SampleRequest
from tests.engines.api import playing
from tests.engines.api.playing import BACKBONE, KEY
from tests.engines.openai_server import Server

SAMPLING = replace(playing.SAMPLING, stop=("END",))


def settings(server, **changes):
    usual = {"max_concurrency": 16, "timeout_seconds": 0.8, "max_retries": 8, "supports_seed": True}
    return playing.settings(server.base_url, **usual | changes)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("ICPO_TEST_KEY", KEY)


@pytest.fixture
def server():
    with Server() as running:
        yield running


@pytest.fixture
def start(server):
    """Starts engines for the server and closes them."""
    engines = []

    def start_one(backbone=BACKBONE, **changes):
        engines.append(settings(server, **changes).start(backbone, max_context_tokens=100))
        return engines[-1]

    yield start_one
    for engine in engines:
        engine.close()


def ask(text="6*7", n=1, seed=3, sampling=SAMPLING, system="Be brief."):
    return SampleRequest(Purpose.CANDIDATE, Prompt(system, text), sampling, n, seed)


def collect(engine, requests):
    for ticket, request in enumerate(requests):
        engine.submit(ticket, request)
    answers = {}
    while len(answers) < len(requests):
        answers |= engine.finished()
    return answers


def wait(engine):
    """The next requests to end; raises what the engine raises."""
    while not (done := engine.finished()):
        pass
    return done


def faulty_once(fault):
    """A plan that meets every prompt with one fault, and lets it pass after that."""
    seen = set()

    def plan(body):
        prompt = body["messages"][-1]["content"]
        return None if prompt in seen else (seen.add(prompt) or fault)

    return plan
