"""What a cell says of the code that made it."""

import subprocess
from pathlib import Path

import pytest

from icpo.store import manifest

ROOT = Path(__file__).parents[2]


def test_a_process_finds_the_commit_once_and_hands_out_copies(monkeypatch):
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    if head.returncode:
        pytest.skip("no clone")
    manifest._code_version.cache_clear()
    found = manifest.code_version()
    assert found["commit"] == head.stdout.strip() and found["is_dirty"] in (True, False)
    found["commit"] = "another"
    monkeypatch.setattr(manifest, "_git", lambda *words: pytest.fail("git was asked again"))
    assert manifest.code_version()["commit"] == head.stdout.strip()
