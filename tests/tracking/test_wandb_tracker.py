import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from icpo.errors import ConfigError
from icpo.evaluation.cell import StoredRun, report_runs
from icpo.store import CellRecords
from icpo.tracking import NoTracker, WandbMode, WandbTracker, log_report, reach, tracker_of
from icpo.tracking.wandb_run import run_id, say_how_to_sync

OFFLINE = WandbTracker("icpo-test", None, WandbMode.OFFLINE, ("quick",))


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """No credentials of whoever runs the tests, and no word said by an earlier one."""
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_IDENTITY_TOKEN_FILE", "NETRC", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    say_how_to_sync.cache_clear()
    reach.forget()


def cell_folder(tmp_path, name="cell"):
    folder = tmp_path / "run" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def start(tracker, folder, **more):
    return tracker.start(
        folder,
        run_name="run",
        cell_name=folder.name,
        job_type="me_icpo",
        config={"n": 5} | more,
    )


def records(folder):
    """All records of the cell's offline files, oldest file first, as W&B's own reader shows them."""
    found = []
    for path in sorted(folder.glob("wandb/offline-run-*/*.wandb")):
        done = subprocess.run(
            [sys.executable, "-m", "wandb", "leet", "inspect", "--json", str(path)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return found


def test_auto_is_offline_without_a_key_and_follows_the_environment(monkeypatch):
    auto = WandbTracker("p", None, WandbMode.AUTO, ())
    assert auto.resolved_mode() is WandbMode.OFFLINE
    for wanted, mode in (
        ("disabled", WandbMode.DISABLED),
        ("dryrun", WandbMode.OFFLINE),
        ("shared", WandbMode.SHARED),
    ):
        monkeypatch.setenv("WANDB_MODE", wanted)
        assert auto.resolved_mode() is mode
    monkeypatch.setenv("WANDB_MODE", "sideways")
    with pytest.raises(ConfigError, match="WANDB_MODE='sideways'"):
        auto.resolved_mode()
    assert OFFLINE.resolved_mode() is WandbMode.OFFLINE


def test_id_is_random_and_stays_with_the_cell(tmp_path):
    first, second = cell_folder(tmp_path, "a"), cell_folder(tmp_path, "b")
    assert run_id(first) == run_id(first) != run_id(second)


def test_no_tracker_takes_everything_and_writes_nothing(tmp_path):
    with start(NoTracker(), cell_folder(tmp_path)) as run:
        run.log(1, {"mean_at_k": 0.5})
        run.summary({"mean_at_k": 0.5})
        run.table("questions", ["id"], [["q1"]])
        run.artifact("report", "report", [])
    assert list(cell_folder(tmp_path).iterdir()) == []


def test_offline_run_read_back(tmp_path, caplog):
    folder = cell_folder(tmp_path)
    (folder / "table.md").write_text("| a |")
    with caplog.at_level(logging.INFO), start(OFFLINE, folder, engine={"api_key": "sk-SENTINEL"}) as run:
        run.log(3, {"mean_at_k": 0.25})
        run.log(7, {"mean_at_k": 0.5})
        run.summary({"mean_at_k": {"value": 0.5, "low": 0.25}})
        run.table("questions", ["question_id", "gold"], [["q1", "4"]])
        run.artifact("report", "report", [folder / "table.md"])
    assert f"wandb sync {folder.parent}/*/wandb/offline-run-*" in caplog.text

    found = records(folder)
    [opened] = [r["run"] for r in found if r["type"] == "run"]
    assert (opened["run_id"], opened["run_group"], opened["job_type"]) == (run_id(folder), "run", "me_icpo")
    assert (opened["project"], opened["display_name"], opened["tags"]) == (
        "icpo-test",
        "cell",
        ["quick"],
    )
    assert opened["config"]["update"]["n"] == 5
    logged = [r["history"]["item"] for r in found if r["type"] == "history"]
    assert [(row["_step"], row["mean_at_k"]) for row in logged[:2]] == [(3, 0.25), (7, 0.5)]
    summaries = [r["summary"]["update"] for r in found if r["type"] == "summary"]
    assert {"mean_at_k": {"value": 0.5, "low": 0.25}} in summaries
    assert {"run_table", "report"} == {r["artifact"]["type"] for r in found if r["type"] == "artifact"}
    assert not any(b"SENTINEL" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


STORED_SETTINGS = {
    "_target_": "icpo.tracking.WandbTracker",
    "project": "p",
    "entity": None,
    "mode": "offline",
    "tags": [],
}


def test_a_tracked_run_ends_with_its_report_as_an_artifact(tmp_path):
    folder = cell_folder(tmp_path)
    with CellRecords(folder, config={}, config_digest="d") as stored:
        stored.write_metrics({"loss": 1.0})
        stored.mark("done")
    for is_over in (False, True):
        assert not list(tmp_path.rglob("*.wandb")), "what was interrupted is not kept"
        report_runs([StoredRun(tmp_path, "run", STORED_SETTINGS)], track=is_over)
    [artifact] = [r["artifact"] for r in records(folder.parent / "report") if r["type"] == "artifact"]
    assert (artifact["name"], artifact["type"]) == ("report-run", "report")
    assert {"table.md", "table.csv"} <= {entry["path"] for entry in artifact["manifest"]["contents"]}


def test_report_is_an_artifact_in_the_group_of_its_cells(tmp_path):
    report = cell_folder(tmp_path, "report")
    (report / "table.md").write_text("| a |")
    for wait_seconds in (0, 1.1):  # W&B names fragments by the second
        time.sleep(wait_seconds)
        log_report(tmp_path / "run", [report / "table.md"], tracker_of(STORED_SETTINGS))
    found = records(report)
    runs = [r["run"] for r in found if r["type"] == "run"]
    assert {(r["run_group"], r["job_type"], r["run_id"]) for r in runs} == {("run", "report", run_id(report))}
    assert [r["artifact"]["name"] for r in found if r["type"] == "artifact"] == ["report-run"] * 2


def test_tracker_of_stored_settings():
    assert tracker_of({"_target_": "icpo.tracking.NoTracker"}) == NoTracker()
    for settings in ({}, {"_target_": "os.system"}, {"_target_": "icpo.tracking.WandbTracker", "colour": 1}):
        with pytest.raises(ConfigError, match="tracking"):
            tracker_of(settings)


def test_cells_of_one_process_stay_apart_even_when_both_are_open(tmp_path):
    first, second = cell_folder(tmp_path, "a"), cell_folder(tmp_path, "b")
    with start(OFFLINE, first) as run_a, start(OFFLINE, second) as run_b:
        run_a.log(1, {"of_a": 1.0})
        run_b.log(1, {"of_b": 2.0})
    for folder, mine, other in ((first, "of_a", "of_b"), (second, "of_b", "of_a")):
        items = [r["history"]["item"] for r in records(folder) if r["type"] == "history"]
        assert any(mine in item for item in items) and not any(other in item for item in items)


def test_a_cell_that_raises_is_marked_as_failed(tmp_path):
    with pytest.raises(ZeroDivisionError), start(OFFLINE, cell_folder(tmp_path)):
        raise ZeroDivisionError
    [ended] = [r["exit"] for r in records(cell_folder(tmp_path)) if r["type"] == "exit"]
    assert ended["exit_code"] == 1


KILLED = """
import os, pathlib, signal, sys, time
from icpo.tracking import WandbMode, WandbTracker
tracker = WandbTracker("icpo-test", None, WandbMode.OFFLINE, ())
folder, steps = pathlib.Path(sys.argv[1]), map(int, sys.argv[2].split(","))
with tracker.start(folder, run_name="run", cell_name="cell", job_type="direct", config={}) as run:
    for step in steps:
        run.log(step, {"mean_at_k": step / 10})
    time.sleep(2.5)  # the flush interval is 1 s
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_kill_loses_nothing_older_than_the_flush_and_the_resumed_run_is_the_same(tmp_path):
    folder = cell_folder(tmp_path)
    for wait_seconds, steps in ((0, "1,2,3"), (1.1, "3,4")):  # W&B names fragments by the second
        time.sleep(wait_seconds)
        own = {
            name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"
        }  # a service of its own
        done = subprocess.run([sys.executable, "-c", KILLED, str(folder), steps], check=False, env=own)
        assert done.returncode == -9
    found = records(folder)
    assert {r["run"]["run_id"] for r in found if r["type"] == "run"} == {run_id(folder)}
    logged = [r["history"]["item"] for r in found if r["type"] == "history"]
    assert [(row["_step"], row["mean_at_k"]) for row in logged] == [
        (1, 0.1), (2, 0.2), (3, 0.3), (3, 0.3), (4, 0.4)
    ]  # fmt: skip


UNREACHABLE = "http://127.0.0.1:9"
AUTO = WandbTracker("p", None, WandbMode.AUTO, ())


def test_a_server_is_looked_for_once_a_process(monkeypatch, caplog):
    monkeypatch.setenv("WANDB_API_KEY", "x" * 40)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{listening.getsockname()[1]}")
        assert AUTO.resolved_mode() is WandbMode.ONLINE
    assert AUTO.resolved_mode() is WandbMode.ONLINE, "asked again"
    monkeypatch.setenv("WANDB_BASE_URL", UNREACHABLE)
    assert [AUTO.resolved_mode() for _ in range(3)] == [WandbMode.OFFLINE] * 3
    assert len([r for r in caplog.records if "cannot be reached" in r.getMessage()]) == 1
    reach.give_up("http://elsewhere", "it refused")
    assert not reach.is_reachable("http://elsewhere")


@pytest.mark.slow
def test_a_server_that_refuses_costs_a_process_one_try(tmp_path, monkeypatch, caplog):
    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_error(401)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}")
        monkeypatch.setenv("WANDB_API_KEY", "x" * 40)
        with start(AUTO, cell_folder(tmp_path)) as run:
            run.log(1, {"mean_at_k": 1.0})
        assert AUTO.resolved_mode() is WandbMode.OFFLINE
        server.shutdown()
    assert any(r["type"] == "history" for r in records(cell_folder(tmp_path)))


def test_long_names_are_cut_and_wrong_settings_refused_before_anything_runs(tmp_path):
    folder = cell_folder(tmp_path)
    with OFFLINE.start(folder, run_name="r" * 200, cell_name="c" * 200, job_type="j" * 99, config={}):
        pass
    [opened] = [r["run"] for r in records(folder) if r["type"] == "run"]
    assert [len(opened[key]) for key in ("run_group", "display_name", "job_type")] == [128, 128, 64]
    for wrong in ({"tags": ("t" * 65,)}, {"tags": ("",)}, {"project": "a/b"}, {"project": "p" * 129}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            replace(OFFLINE, **wrong)


def test_what_goes_wrong_with_a_run_is_logged_and_fails_nothing(tmp_path, caplog):
    with start(OFFLINE, cell_folder(tmp_path)) as run:
        run.artifact("a", "report", [tmp_path / "no such file"])
        run.log(1, {"mean_at_k": 1.0})
        run.table("t", ["one"], [["too", "many"]])
    assert len([r for r in caplog.records if "W&B failed" in r.getMessage()]) == 1
    assert any(r["type"] == "history" for r in records(cell_folder(tmp_path)))


def test_a_server_that_refuses_is_an_error_only_if_online_was_asked_for(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("WANDB_BASE_URL", UNREACHABLE)
    monkeypatch.setenv("WANDB_API_KEY", "no key")
    with pytest.raises(ConfigError, match=r"tracking\.mode=offline"):
        start(WandbTracker("p", None, WandbMode.ONLINE, ()), cell_folder(tmp_path)).__enter__()
    with start(WandbTracker("p", None, WandbMode.AUTO, ()), cell_folder(tmp_path)) as run:
        run.log(1, {"mean_at_k": 1.0})
    assert "cannot be reached" in caplog.text
    assert any(r["type"] == "history" for r in records(cell_folder(tmp_path)))
