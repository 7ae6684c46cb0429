"""Steps and places counted by hand."""

import pytest

from icpo.types import Prompt, Purpose, SampleRequest
from tests.experiments.scripts import load
from tests.sampling import sampling_of


@pytest.fixture(scope="module")
def places():
    return load("throughput/places")


def request(text, num_samples, num_tokens):
    sampling = sampling_of(max_tokens=num_tokens, min_tokens=num_tokens)
    return SampleRequest(Purpose.CANDIDATE, Prompt("", text), sampling, num_samples, 0)


def counted(places, burst, *requests):
    times = ["--least-ms=1", "--full-ms=5", "--reading-ms=10"]
    given = places.arguments(["x", "--places=4", *times])
    engine = places.CountedEngine(given, 46, burst)
    for ticket, asked in enumerate(requests):
        engine.submit(ticket, asked)
    ended = [ticket for _ in requests for ticket, _ in engine.finished()]
    assert ended == list(range(len(requests)))
    return engine.num_steps, engine.num_reading_steps, engine.milliseconds


def test_a_request_alone(places):
    # Three steps with two of four places taken, 3 ms each; the first reads 46 and then 8 cached tokens.
    assert counted(places, 1, request("a", 2, 3)) == (3, 1, pytest.approx(3 * 3 + 10 + (46 + 8) / 46))


@pytest.mark.parametrize(("burst", "num_steps", "num_reading"), [(1, 5, 2), (4, 6, 2)])
def test_a_burst_waits_for_places(places, burst, num_steps, num_reading):
    # Two of four samples end after two steps. One more then starts; in bursts of four it waits a step longer.
    found = counted(places, burst, request("a", 2, 2), request("b", 2, 3), request("c", 1, 3))
    assert found[:2] == (num_steps, num_reading)
