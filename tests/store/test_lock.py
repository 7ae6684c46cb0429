import json
import multiprocessing
import os
import subprocess
import sys
import time

import pytest

from icpo.errors import HeldByAnother, RecordsError
from icpo.store import CellRecords
from icpo.store.lock import LOCK_NAME, PACE, Lock, Pace, holder_of, is_dead, remove_dead, this_process
from tests.reliability import report_row
from tests.store.values import result, score

ELSEWHERE = {
    "host": "node7",
    "pid": 1,
    "place": "another-boot/pid:[1]",
    "born": "5",
    "token": "t",
    "time": "noon",
}


QUICK = Pace(beat_seconds=0.2, stale_seconds=2.0)
SILENT = Pace(beat_seconds=0.1, stale_seconds=0.5)  # where no heart beats that a busy machine could hold up


def hold(folder, who):
    (folder / LOCK_NAME).write_text(json.dumps(who))


def check_until_lost(held):
    """Checks a lock until a beat has found that another took it; at most half a minute."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        held.check()
        time.sleep(0.02)


@pytest.fixture
def at_once(monkeypatch):
    """Makes a lock that waits fail, however long a busy machine takes."""

    def never(seconds):
        raise AssertionError(f"waited {seconds} s")

    with monkeypatch.context() as changed:
        changed.setattr(time, "sleep", never)
        yield


@pytest.mark.usefixtures("at_once")
def test_a_living_holder_on_this_machine_is_named_at_once(tmp_path):
    with Lock(tmp_path), pytest.raises(RecordsError, match=rf"process {os.getpid()} .*run_name"):
        Lock(tmp_path).acquire()
    assert not (tmp_path / LOCK_NAME).exists()
    with Lock(tmp_path):
        pass


@pytest.mark.usefixtures("at_once")
def test_a_killed_holder_on_this_machine_is_followed_at_once(tmp_path):
    code = "import sys, os, signal; from pathlib import Path; from icpo.store.lock import Lock\n"
    code += "Lock(Path(sys.argv[1])).acquire(); os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)])
    assert (tmp_path / LOCK_NAME).exists()
    assert holder_of(tmp_path) is None
    with Lock(tmp_path):
        pass


def test_a_reused_pid_is_not_taken_for_the_holder(tmp_path):
    me = this_process()
    assert not is_dead(me)
    assert is_dead(me | {"born": "1"}), "the same pid, but started at another time"


def test_the_same_pid_in_another_container_says_nothing():
    assert not is_dead(this_process() | {"place": "same-boot/pid:[2]", "pid": 2**22 + 1})


def test_a_holder_elsewhere_that_beats_is_refused(tmp_path):
    hold(tmp_path, ELSEWHERE)
    code = "import os, sys, time\nfor _ in range(30): os.utime(sys.argv[1]); time.sleep(0.2)"
    beating = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / LOCK_NAME)])
    try:
        with pytest.raises(RecordsError, match="node7"):
            Lock(tmp_path, pace=QUICK).acquire()
        assert holder_of(tmp_path, QUICK) == ELSEWHERE
    finally:
        beating.kill()
        beating.wait()


@pytest.mark.parametrize("content", [json.dumps(ELSEWHERE), "{"])
def test_a_holder_elsewhere_whose_heart_stopped_is_waited_for_and_followed(tmp_path, content):
    (tmp_path / LOCK_NAME).write_text(content)
    began = time.monotonic()
    with Lock(tmp_path, pace=SILENT):
        assert time.monotonic() - began > 0.45
        assert json.loads((tmp_path / LOCK_NAME).read_text())["pid"] == os.getpid()


def test_the_heart_beats_while_the_holder_is_busy(tmp_path):
    with Lock(tmp_path, pace=QUICK) as held:
        time.sleep(2.5)
        assert holder_of(tmp_path, QUICK)["pid"] == os.getpid()
        held.check()


def test_one_that_lost_its_lock_writes_no_more(tmp_path):
    """As after a stop of the process so long that another took over."""
    held = Lock(tmp_path, pace=QUICK)
    held.acquire()
    hold(tmp_path, ELSEWHERE)
    with pytest.raises(RecordsError, match="node7"):
        check_until_lost(held)
    held.release()
    assert json.loads((tmp_path / LOCK_NAME).read_text()) == ELSEWHERE, "the other's lock stays"


def test_a_living_lock_taken_for_a_dead_one_is_put_back(tmp_path):
    with Lock(tmp_path) as held:
        before = holder_of(tmp_path)
        remove_dead(tmp_path / LOCK_NAME, ELSEWHERE)  # as one that read the lock before it changed hands
        assert holder_of(tmp_path) == before
        held.check()
        assert [path.name for path in tmp_path.iterdir()] == [LOCK_NAME]


def test_a_living_lock_whose_place_was_taken_meanwhile_stops_its_holder(tmp_path):
    def too_late(aside, path):
        hold(tmp_path, ELSEWHERE)
        os.link(aside, path)

    with Lock(tmp_path, pace=QUICK) as held:
        remove_dead(tmp_path / LOCK_NAME, {"token": "dead"}, link=too_late)
        with pytest.raises(RecordsError, match="node7"):
            check_until_lost(held)
    assert json.loads((tmp_path / LOCK_NAME).read_text()) == ELSEWHERE
    assert [path.name for path in tmp_path.iterdir()] == [LOCK_NAME]


def _race(folder, start, end, winners):
    start.wait()
    try:
        with Lock(folder):
            winners.put(os.getpid())
            end.wait()
    except RecordsError:
        end.wait()


@pytest.mark.parametrize("left_behind", [None, {"pid": 2**22 + 1, "token": "dead"}])
def test_of_many_that_race_one_wins(tmp_path, left_behind):
    if left_behind:
        hold(tmp_path, this_process() | left_behind)
    context = multiprocessing.get_context("fork")
    start, end, winners = context.Barrier(8), context.Barrier(8), context.Queue()
    racers = [context.Process(target=_race, args=(tmp_path, start, end, winners)) for _ in range(8)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert winners.get(timeout=30)
    assert winners.empty()
    report_row("eight processes race for one lock, free or a dead one's", "2 races", "one wins each")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("at_once")
def test_a_holder_elsewhere_is_taken_for_dead_after_three_minutes_of_silence(tmp_path):
    hold(tmp_path, ELSEWHERE)
    for silent_seconds, is_held in ((PACE.beat_seconds * 2, True), (170, True), (190, False)):
        then = time.time() - silent_seconds
        os.utime(tmp_path / LOCK_NAME, (then, then))
        assert (holder_of(tmp_path) is not None) == is_held, silent_seconds
    with Lock(tmp_path):
        pass


@pytest.mark.parametrize("waits", [False, True])
def test_a_lock_from_the_future_is_waited_for_no_longer_than_a_silent_one(tmp_path, waits):
    hold(tmp_path, ELSEWHERE)
    os.utime(tmp_path / LOCK_NAME, (time.time() + 1e7, time.time() + 1e7))
    assert holder_of(tmp_path) is None, "status does not show it as running"
    began = time.monotonic()
    with Lock(tmp_path, waits=waits, pace=SILENT):
        assert 0.45 < time.monotonic() - began < 30


@pytest.mark.parametrize("pid", ["seven", None, -1, 0, 2**70, 1.5, [1], True])
def test_an_odd_process_id_is_nobody_that_is_known_to_be_dead(tmp_path, pid):
    hold(tmp_path, this_process() | {"pid": pid})
    assert holder_of(tmp_path) is not None
    with pytest.raises(HeldByAnother):
        Lock(tmp_path).acquire()


@pytest.mark.parametrize("write", ["append", "write_scores", "write_metrics", "mark"])
def test_a_cell_that_lost_its_lock_writes_nothing_more(cell, write):
    with CellRecords(cell, config={}, config_digest="d", pace=Pace(0.05, 2.0)) as records:
        hold(cell, ELSEWHERE)
        time.sleep(0.3)
        before = {path.name: path.read_bytes() for path in cell.iterdir()}
        arguments = {
            "append": result("q"),
            "write_scores": [score("q")],
            "write_metrics": {"mean": 1},
            "mark": "done",
        }
        with pytest.raises(RecordsError, match="node7"):
            getattr(records, write)(arguments[write])
        assert {path.name: path.read_bytes() for path in cell.iterdir()} == before
    report_row("a cell whose lock went to another process", "4 kinds of write", "refused, nothing written")
