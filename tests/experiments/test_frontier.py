"""The frontier preset from end to end: both Gemini models on a server on loopback, up to the table."""

import os
import re
import subprocess
import sys
from random import Random

import pytest

pytest.importorskip("openai")

from icpo.store import read_metrics, read_status
from tests.end_to_end.fakes import questions_file
from tests.engines.openai_server import Handler, Server
from tests.experiments.scripts import EXPERIMENTS

ROOT = EXPERIMENTS.parent
KEY = "sk-of-no-account"
CALLS_A_QUESTION = 16 + 5 * (16 + 16 + 16 * 16) + 16  # the base's finals, five rounds of ME-ICPO, its finals


class Solver(Handler):
    """Answers the questions of `questions_file` rightly seven times in ten, more often once it has ideas."""

    def completion(self, body, num, reason="stop", text=""):
        reply = super().completion(body, num, reason, text)
        for choice in reply["choices"]:
            prompt, serial = choice["message"]["content"].rsplit("#", 1)
            [number] = set(re.findall(r"How many are (\d+) apples", prompt)) or {"0"}
            is_right = Random(serial).random() < (0.95 if "reward" in prompt.lower() else 0.7)
            answer = 2 * int(number) + (not is_right)
            choice["message"]["content"] = f"Draw {serial}. Thus, the answer is \\(\\boxed{{{answer}}}\\)."
        return reply


@pytest.mark.slow
def test_gemini_through_its_endpoint(tmp_path):
    questions = questions_file(tmp_path, golds=("0", "2"))
    faults = {40: "429", 90: "500", 200: "reset", 300: "empty choices"}
    environment = os.environ | {"GEMINI_API_KEY": KEY, "PYTHONPATH": str(ROOT)}

    def command(*arguments):
        return subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip

    with Server(lambda body: faults.pop(len(server.requests), None)) as server:
        server.RequestHandlerClass = Solver
        done = command(
            "-m", "icpo.run", "+exp=frontier", "backbone=gemini_pro,gemini_flash", "engine=openai",
            f"engine.base_url={server.base_url}", "engine.first_wait_seconds=0.01", f"output_root={tmp_path}",
            f"benchmark.path={questions}", "benchmark.expected_count=null", "benchmark.digest=null",
            "seeds=[0]", "tracking=none",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert sum(server.good_replies.values()) == 2 * 2 * CALLS_A_QUESTION and not faults
    assert {body["model"] for _, _, body, _ in server.requests} == {"gemini-2.5-pro", "gemini-2.5-flash"}
    assert all(body["reasoning_effort"] == "low" for _, _, body, _ in server.requests)
    cells = sorted((tmp_path / "frontier").glob("gemini*"))
    assert [read_status(cell)["state"] for cell in cells] == ["done"] * 4
    assert all(read_metrics(cell)["num_unparsed"] == 0 for cell in cells)

    made = command("experiments/report.py", "frontier", "--outputs", str(tmp_path))
    assert made.returncode == 0, made.stderr[-3000:]
    table = (tmp_path / "frontier/report/frontier_vs_paper.md").read_text().splitlines()
    gemini = [line for line in table if line.startswith("| gemini") and "| aime2024 |" in line]
    assert len(gemini) == 8 and not any("not run" in line for line in gemini)
    assert all(re.search(r"\| (within|above|below) \|", line) for line in gemini)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in kept
