import signal
import subprocess
import sys
import threading
import time

import pytest

from icpo.errors import Interrupted
from icpo.evaluation.interrupt import Interrupt

LOOP = """
import sys, time
from icpo.errors import Interrupted
from icpo.evaluation.interrupt import Interrupt
with Interrupt() as interrupted:
    print("ready", flush=True)
    while not interrupted.is_set():
        time.sleep(0.01)
    print("finishing", flush=True)
    time.sleep(float(sys.argv[1]))
print("ended", flush=True)
"""


@pytest.fixture
def loop():
    """Starts the loop above; kills it if a test leaves it."""
    started = []

    def start(seconds, **options):
        process = subprocess.Popen(
            [sys.executable, "-c", LOOP, str(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_lets_the_work_in_hand_be_finished(loop, number):
    process = loop(0.1)
    process.send_signal(number)
    assert process.stdout.read() == "finishing\nended\n"
    assert process.wait(300) == 0


def test_a_second_signal_ends_it_at_once(loop):
    process = loop(600)
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "finishing\n"
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) == -signal.SIGTERM
    assert time.monotonic() - began < 300


def test_a_loop_that_does_not_poll_is_broken_off():
    began = time.monotonic()
    with pytest.raises(Interrupted, match="SIGTERM"), Interrupt(grace_seconds=0.1):
        signal.raise_signal(signal.SIGTERM)
        time.sleep(600)
    assert time.monotonic() - began < 300


def test_a_loop_that_has_noticed_is_let_finish():
    with Interrupt(grace_seconds=0.1) as interrupted:
        interrupted.check()
        signal.raise_signal(signal.SIGTERM)
        assert interrupted.is_set()
        time.sleep(0.3)
        with pytest.raises(Interrupted):
            interrupted.check()


def test_handlers_are_given_back():
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupted:
        assert signal.getsignal(signal.SIGTERM) != before[0]
        signal.raise_signal(signal.SIGTERM)
        assert interrupted.is_set()
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_it_stays_aside_under_submitit_and_outside_the_main_thread(monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    seen = []

    def in_thread():
        with Interrupt():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    monkeypatch.setenv("SUBMITIT_EXECUTOR", "slurm")
    with Interrupt():
        seen.append(signal.getsignal(signal.SIGTERM))
    assert seen == [before, before]


def test_a_signal_that_came_while_a_nested_one_was_open_is_known_to_the_outer():
    before = signal.getsignal(signal.SIGTERM)
    with Interrupt() as outer:
        with Interrupt() as inner:
            signal.raise_signal(signal.SIGTERM)
        assert inner.is_set() and outer.is_set()
        with pytest.raises(Interrupted, match="SIGTERM"):
            outer.check()
    assert signal.getsignal(signal.SIGTERM) == before
    with Interrupt() as later:
        assert not later.is_set()


def test_a_signal_that_came_before_a_nested_one_was_open_stops_it():
    with Interrupt():
        signal.raise_signal(signal.SIGTERM)
        with Interrupt() as inner, pytest.raises(Interrupted, match="SIGTERM"):
            inner.check()


def test_an_outer_that_does_not_poll_is_broken_off_after_the_nested_one_ended():
    began = time.monotonic()
    with pytest.raises(Interrupted, match="SIGTERM"), Interrupt(grace_seconds=0.2):
        with Interrupt():
            signal.raise_signal(signal.SIGTERM)
        time.sleep(600)
    assert time.monotonic() - began < 300
