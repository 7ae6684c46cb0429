"""One SLURM for all tests of this folder, and runs submitted to it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from icpo.store import read_status
from tests.slurm.sandbox import SlurmSandbox, is_installed

ROOT = Path(__file__).parents[2]
TINY = [
    "+exp=quickstart", "benchmark=arith_l1", "benchmark.limit=12", "tracking=none",
    "engine.block_questions=2", "budget.num_rounds=1", "budget.num_candidates=2",
    "budget.num_lookaheads=2", "budget.num_finals=2",
]  # fmt: skip
ON_SLURM = ["hydra/launcher=slurm", "hydra.launcher.cpus_per_task=1", "hydra.launcher.partition=low"]


@pytest.fixture(scope="session")
def slurm() -> Iterator[SlurmSandbox]:
    if not is_installed():
        pytest.fail("these tests need Debian's slurm-wlm and munge: apt-get install slurm-wlm munge")
    with SlurmSandbox() as sandbox:
        yield sandbox


class Launcher:
    """Runs `icpo.run` in a folder of its own; `run` is the folder of the run."""

    def __init__(self, outputs: Path, environment: dict[str, str]) -> None:
        self.run = outputs / "run"
        self._environment = environment
        self._log = outputs / "launcher.log"
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, *overrides: str, seconds_per_batch: float = 0) -> subprocess.Popen[bytes]:
        """Starts a run, each batch of which takes so much longer."""
        slowly = {
            "PYTHONPATH": f"{ROOT / 'tests' / 'slow_engine'}{os.pathsep}{ROOT}",
            "ICPO_TEST_SECONDS_PER_BATCH": str(seconds_per_batch),
        }
        environment = self._environment | (slowly if seconds_per_batch else {})
        command = [sys.executable, "-m", "icpo.run", *TINY, f"output_root={self.run.parent}", "run_name=run"]
        command += overrides
        with self._log.open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        self._started.append(process)
        return process

    def close(self) -> None:
        """Ends the launchers that a failed test left waiting."""
        for process in self._started:
            process.kill()
            process.wait()

    def finish(self, process: subprocess.Popen[bytes]) -> int:
        """The exit status of a run."""
        return process.wait(600)

    @property
    def said(self) -> str:
        """All that the launcher printed."""
        return self._log.read_text()

    def cell(self, method: str) -> Path:
        """The folder of the one cell of a method, which may not be there yet."""
        return self.run / f"nano-arith_l1-{'base' if method == 'direct' else method}"

    def status(self, method: str) -> dict[str, object]:
        """What a cell's status says; {} before there is one."""
        return read_status(self.cell(method)) or {}


@pytest.fixture
def launcher(tmp_path: Path, slurm: SlurmSandbox) -> Iterator[Launcher]:
    launcher = Launcher(tmp_path, slurm.environment)
    yield launcher
    launcher.close()


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory, slurm: SlurmSandbox) -> Launcher:
    """The same run without SLURM and without interruption."""
    local = Launcher(tmp_path_factory.mktemp("alone"), slurm.environment)
    assert local.finish(local.start()) == 0, local.said
    return local


def wait_until(condition: Callable[[], object], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited {seconds} s in vain"
        time.sleep(0.05)
