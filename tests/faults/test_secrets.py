"""Keys in the environment reach no file, no log, no tracker; keys in the settings are refused unread."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.openai_server import Server

ROOT = Path(__file__).parents[2]
NAMES = ("ICPO_TEST_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "HF_TOKEN", "WANDB_API_KEY")
SECRETS = {name: f"sk-{i}{'0123456789abcdef' * 2}{i:05}" for i, name in enumerate(NAMES)}


def run(folder, *overrides):
    command = [sys.executable, "-m", "icpo.run", "+exp=quickstart", "benchmark=arith_l1", "benchmark.limit=2"]
    command += ["budget.num_candidates=2", "budget.num_lookaheads=2", "budget.num_finals=2"]
    environment = os.environ | SECRETS | {"WANDB_MODE": "offline", "WANDB_DIR": str(folder)}
    return subprocess.run(
        [*command, f"output_root={folder}", *overrides],
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


@pytest.mark.parametrize("setting", ["+engine.api_key", "tracking.api_key", "++wandb.password", "+a.auth"])
def test_a_key_given_as_a_setting_is_refused_before_anything_is_stored(tmp_path, setting):
    done = run(tmp_path, f"{setting}={SECRETS['ICPO_TEST_KEY']}")
    assert done.returncode != 0
    assert "looks like a secret" in done.stderr
    assert SECRETS["ICPO_TEST_KEY"] not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []
