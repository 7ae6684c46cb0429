"""Engines in processes of their own, tested after the one in the tests' own process (files run by name).

When vLLM shuts another engine down, it takes along what the one in this process needs.
"""

import csv
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from icpo.errors import EngineError
from tests.vllm.conftest import answers, ask, nano, settings_of

pytestmark = pytest.mark.vllm


def test_a_killed_engine_is_an_error_with_the_log_and_the_next_one_starts():
    children = set(multiprocessing.active_children())
    settings = settings_of(in_process=False)
    engine = settings.start(nano(), max_context_tokens=256)
    [core] = set(multiprocessing.active_children()) - children
    assert core.name == "EngineCore"
    [[completion]] = answers(engine, [ask("What is 3 + 4?")])
    engine.submit(7, ask("What is 3 + 4?", 8, max_tokens=200, min_tokens=200))
    os.kill(core.pid, signal.SIGKILL)
    start = time.monotonic()
    with pytest.raises(EngineError, match=r"died[\s\S]*vllm\.log:[\s\S]* INFO "):
        while True:
            engine.finished()
    assert time.monotonic() - start < 30
    engine.close()
    engine = settings.start(nano(), max_context_tokens=256)
    [[again]] = answers(engine, [ask("What is 3 + 4?")])
    assert again == completion
    engine.close()
    assert set(multiprocessing.active_children()) == children


def test_what_vllm_does_not_know_is_named():
    with pytest.raises(EngineError, match=r"engine\.options .*nonsense"):
        settings_of(in_process=False, options={"nonsense": 1}).start(nano(), max_context_tokens=64)


def test_what_cannot_run_is_an_error_that_says_so(tmp_path):
    with pytest.raises(EngineError, match=r"9000.*backbone\.max_context_tokens"):
        settings_of(in_process=False).start(nano(), max_context_tokens=9000)
    folder = shutil.copytree(nano().location, tmp_path / "unknown")
    config = json.loads((folder / "config.json").read_text())
    unknown = {**config, "model_type": "unknown", "architectures": ["UnknownForCausalLM"]}
    (folder / "config.json").write_text(json.dumps(unknown))
    with pytest.raises(EngineError, match=r"architecture.*engine=transformers"):
        settings_of(in_process=False).start(nano(model_id=str(folder)), max_context_tokens=64)


def test_the_probe_scores_on_vllm(tmp_path):
    probe = (
        "+exp=probe engine=vllm engine.enforce_eager=true engine.gpu_memory_utilization=0.5 tracking=none "
        "benchmark=arith_l1 benchmark.limit=3 budget.num_samples=4 method.num_further=1 "
        f"output_root={tmp_path}"
    )
    run = subprocess.run([sys.executable, "-m", "icpo.run", *probe.split()], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    [shifts] = tmp_path.glob("probe/*/shifts.csv")
    with shifts.open(encoding="utf-8") as file:
        scored = [float(row["base_scored"]) for row in csv.DictReader(file) if row["base_scored"]]
    assert len(set(scored)) >= 3
