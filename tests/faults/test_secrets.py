"""Keys in the environment reach no file, no log, no tracker; keys in the settings are refused unread."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_lines import run_lines
from tests.engines.openai_server import Server
from tests.reliability import report_row

ROOT = Path(__file__).parents[2]
NAMES = ("ICPO_TEST_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "HF_TOKEN", "WANDB_API_KEY")
SECRETS = {name: f"sk-{i}{'0123456789abcdef' * 2}{i:05}" for i, name in enumerate(NAMES)}


def arguments(folder, *overrides):
    """A command line that stores in a folder."""
    budget = ["budget.num_candidates=2", "budget.num_lookaheads=2", "budget.num_finals=2"]
    cell = ["+exp=quickstart", "benchmark=arith_l1", "benchmark.limit=2", *budget]
    return [*cell, f"output_root={folder}", *overrides]


def run(folder, *overrides):
    environment = os.environ | SECRETS | {"WANDB_MODE": "offline", "WANDB_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "icpo.run", *arguments(folder, *overrides)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def leaks(folder, *said):
    """Where secrets are found: files under a folder, and texts."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    content = {str(path): path.read_bytes() for path in files} | {
        f"output {i}": text.encode() for i, text in enumerate(said)
    }
    return [
        (place, name)
        for place, data in content.items()
        for name, secret in SECRETS.items()
        if secret.encode() in data
    ]


@pytest.mark.slow
@pytest.mark.parametrize("fault", [None, (401, f"Incorrect API key provided: {SECRETS['ICPO_TEST_KEY']}")])
def test_keys_reach_no_file_no_log_and_no_tracker(tmp_path, fault):
    """Also when a server sends the key back in its complaint."""
    with Server(lambda body: fault) as server:
        engine = ["engine=openai", f"engine.base_url={server.base_url}", "engine.api_key_env=ICPO_TEST_KEY"]
        done = run(tmp_path, *engine, "backbone.model_id=nano", "tracking=wandb", "tracking.mode=offline")
    assert server.requests, done.stderr
    assert SECRETS["ICPO_TEST_KEY"] in server.requests[0][1]["Authorization"]
    assert (done.returncode == 0) == (fault is None), done.stderr
    assert list(tmp_path.rglob("*.wandb"))
    assert leaks(tmp_path, done.stdout, done.stderr) == []
    report_row(
        "keys in the environment" + (", one sent back by a server" if fault else ""),
        f"{len(SECRETS)} keys, {len(list(tmp_path.rglob('*')))} files and folders",
        "in no file (Hydra's, run.log, tables, W&B's offline files) and no message",
    )


@pytest.mark.slow
@pytest.mark.parametrize("sweep", [[], ["seeds=[0]", "method=direct,me_icpo"]])
def test_an_address_with_a_password_from_the_environment_reaches_no_file(tmp_path, sweep, monkeypatch):
    """Neither Hydra's files nor the manifest, the log, the report or a message."""
    with Server(lambda body: None) as server:
        address = server.base_url.replace("://", f"://me:{SECRETS['ICPO_TEST_KEY']}@")
        monkeypatch.setenv("ICPO_TEST_URL", f"{address}?api_key={SECRETS['OPENAI_API_KEY']}")
        engine = ["engine=openai", "engine.base_url=${oc.env:ICPO_TEST_URL}", "engine.max_retries=0"]
        done = run(tmp_path, *engine, "backbone.model_id=nano", "tracking=none", *sweep)
    assert list(tmp_path.rglob("config.yaml")) and list(tmp_path.rglob("manifest.json")), done.stderr
    assert leaks(tmp_path, done.stdout, done.stderr) == []
    report_row(
        "a password and a key in a server's address, " + ("a sweep" if sweep else "one cell"),
        f"{len(list(tmp_path.rglob('*')))} files and folders",
        "in no file and no message",
    )


SETTINGS = [
    *(f"{name}={{}}" for name in ("+engine.api_key", "tracking.api_key", "++wandb.password", "+a.auth")),
    "+hf_token={}",
    "engine.base_url=http://me:{}@host/v1",
    "engine.base_url=https://host/v1?api_key={}",
    "+engine.template_options={{api_key:{}}}",
    "+hydra.launcher.setup=['export HF_TOKEN={}']",
]
SWEEPS = ([], ["method=direct,me_icpo"])


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """Where each command line with a key, in a setting or in a file, was to store, and how it ended."""
    (conf := tmp_path_factory.mktemp("own") / "conf").joinpath("engine").mkdir(parents=True)
    key = f"headers: {{token: {SECRETS['HF_TOKEN']}}}\n"
    (conf / "engine/mine.yaml").write_text(f"defaults: [openai, _self_]\n{key}")
    own = [f"hydra.searchpath=[file://{conf}]", "engine=mine"]
    given = [[one.format(SECRETS["ICPO_TEST_KEY"]), "arm=me_icpo"] for one in SETTINGS]
    given += [[*own, *sweep] for sweep in SWEEPS]
    stored = tmp_path_factory.mktemp("stored")
    folders = [stored / str(i) for i in range(len(given))]
    lines = [(ROOT, arguments(folder, *own)) for folder, own in zip(folders, given, strict=True)]
    done = run_lines(lines, **SECRETS, WANDB_MODE="offline", WANDB_DIR=str(stored))
    return list(zip(folders, done, strict=True))


@pytest.mark.parametrize("number", range(len(SETTINGS)), ids=SETTINGS)
def test_a_key_given_as_a_setting_is_refused_before_anything_is_stored(refused, number):
    folder, done = refused[number]
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "looks like a secret" in done.stderr
    assert SECRETS["ICPO_TEST_KEY"] not in done.stdout + done.stderr
    assert not folder.exists()


@pytest.mark.parametrize("number", range(len(SWEEPS)))
def test_a_key_in_a_file_of_ones_own_is_refused_before_anything_is_stored(refused, number):
    folder, done = refused[len(SETTINGS) + number]
    assert done.returncode == 2
    assert "engine.headers.token looks like a secret" in done.stderr
    assert SECRETS["HF_TOKEN"] not in done.stdout + done.stderr
    assert not folder.exists()
