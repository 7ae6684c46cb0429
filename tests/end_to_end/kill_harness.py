"""Kills runs at random moments and proves that nothing is lost and nothing is sampled twice.

Usage: python -m tests.end_to_end.kill_harness [--kills 50] [--engine transformers|vllm] [--seed 0]
    [--methods direct,me_icpo] [--extend]

A run is killed with SIGKILL, half the times at any moment, half the times within 30 ms of a write to its
files, and started again until it ends by itself; then the next begins. With the transformers engine the
results and the table must be those of a run that was left alone. With vLLM, whose samples depend on what
else is sampled, every sample that was stored must stay as it was. With both, the engine must never be asked
for what is stored. It is counted in batches, as the journal stores them; with vLLM a batch is one request.
With --extend every run is finished with half the questions first, and what is killed is its extension.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from icpo.store import JOURNAL_NAME, RESULTS_NAME, run_cells
from icpo.store.repair import verify
from tests.end_to_end.counted_run import stored_keys
from tests.stored import read_results

ROOT = Path(__file__).parents[2]
TINY = [
    "+exp=quickstart", "benchmark=arith_l1", "benchmark.limit=12", "tracking=none", "budget.num_rounds=1",
    "budget.num_candidates=2", "budget.num_lookaheads=2", "budget.num_finals=2",
]  # fmt: skip
OF_ENGINE = {
    "transformers": ["engine=transformers", "engine.block_questions=2"],
    "vllm": ["engine=vllm", "engine.enforce_eager=true", "engine.gpu_memory_utilization=0.5"],
}
METHODS = "direct,me_icpo"
HALF = "benchmark.limit=6"
LIMIT_SECONDS = 600


@dataclass(slots=True)
class Tally:
    """What was done and what was found; all that is named after `kills_survived` must be 0."""

    runs: int = 0
    kills: int = 0
    batches_asked: int = 0
    batches_cut_short: int = 0
    kills_survived: int = 0
    stored_batches_lost: int = 0
    stored_batches_asked_again: int = 0
    stored_results_lost: int = 0
    results_that_differ: int = 0
    tables_that_differ: int = 0
    unsound_cells: int = 0
    orphans: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether every kill was survived without any loss."""
        losses = {name: value for name, value in asdict(self).items() if name not in DONE}
        return self.kills_survived == self.kills and not any(losses.values())


DONE = ("runs", "kills", "batches_asked", "batches_cut_short", "kills_survived")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a run has stored: batches by cell and key, result rows by cell, seed and question."""

    batches: dict[tuple[str, str], object]
    results: dict[tuple[str, int, str], object]

    @classmethod
    def of(cls, run: Path) -> "Snapshot":
        batches, results = {}, {}
        for cell in run_cells(run.parent, run.name):
            if (cell / JOURNAL_NAME).exists():
                reader = stored_keys(cell / JOURNAL_NAME)
                batches |= {(cell.name, key): reader.get(key) for key in reader}
                reader.close()
            results |= {(cell.name, row["seed"], row["question_id"]): row for row in read_results(cell)}
        return cls(batches, results)


class KillTest:
    """Runs, kills and compares; `tally` says what was found."""

    def __init__(self, folder: Path, engine: str, seed: int, methods: str, *, extends: bool = False) -> None:
        self.tally, self._extends = Tally(), extends
        self._folder, self._engine, self._methods = folder, engine, methods
        self._random = random.Random(seed)
        began = time.monotonic()
        self._reference = self._run_to_the_end("reference")
        self._seconds = time.monotonic() - began

    def kill(self, num_kills: int) -> Tally:
        """Kills `num_kills` times, over as many runs as that takes."""
        while self.tally.kills < num_kills:
            self.tally.runs += 1
            run, kills_before, seen = (
                self._folder / f"run{self.tally.runs}",
                self.tally.kills,
                Snapshot({}, {}),
            )
            if self._extends:
                seen = self._run_to_the_end(run.name, HALF)
            while self.tally.kills < num_kills and self._killed(run):
                self.tally.kills += 1
                seen = self._compare_stored(seen, Snapshot.of(run))
            self._compare_stored(seen, self._run_to_the_end(run.name))
            self._compare_with_reference(run)
            self.tally.kills_survived += self.tally.kills - kills_before
        self._count_batches()
        return self.tally

    def _start(self, run: Path, *overrides: str) -> subprocess.Popen[bytes]:
        module = "tests.end_to_end.counted_run"
        command = [sys.executable, "-m", module, str(run.with_suffix(".ledger")), str(run), *TINY]
        command += [*OF_ENGINE[self._engine], f"method={self._methods}"]
        command += [f"run_name={run.name}", f"output_root={run.parent}", *overrides]
        with run.with_suffix(".log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env={"VLLM_CPU_KVCACHE_SPACE": "1", **os.environ},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _run_to_the_end(self, name: str, *overrides: str) -> Snapshot:
        run = self._folder / name
        process = self._start(run, *overrides)
        if process.wait(LIMIT_SECONDS) != 0:
            self.tally.failures.append(
                f"{name} ended with {process.returncode}: see {run.with_suffix('.log')}"
            )
        return Snapshot.of(run)

    def _killed(self, run: Path) -> bool:
        """Starts the run and kills it; False if it ended before the moment came."""
        process = self._start(run)
        if self._random.random() < 0.5:
            deadline, num_writes = self._random.uniform(0, self._seconds), None
        else:
            deadline, num_writes = LIMIT_SECONDS, self._random.randrange(1, 12)
        began, size = time.monotonic(), _size(run)
        while process.poll() is None and time.monotonic() - began < deadline:
            if num_writes is not None and _size(run) != size:
                size, num_writes = _size(run), num_writes - 1
                if num_writes == 0:
                    time.sleep(self._random.uniform(0, 0.03))
                    break
            time.sleep(0.001)
        if process.poll() is not None:
            if process.returncode != 0:
                self.tally.failures.append(f"{run.name} ended with {process.returncode} before a kill")
            return False
        process.kill()
        process.wait()
        self.tally.orphans += _orphans(process.pid)
        return True

    def _compare_stored(self, before: Snapshot, after: Snapshot) -> Snapshot:
        self.tally.stored_batches_lost += sum(
            after.batches.get(key) != batch for key, batch in before.batches.items()
        )
        self.tally.stored_results_lost += sum(
            after.results.get(k) != row for k, row in before.results.items()
        )
        return after

    def _compare_with_reference(self, run: Path) -> None:
        cells = run_cells(run.parent, run.name)
        self.tally.unsound_cells += sum(not verify(cell).is_sound for cell in cells)
        results, expected = Snapshot.of(run).results, self._reference.results
        if self._engine == "vllm":
            self.tally.results_that_differ += len(results.keys() ^ expected.keys())
            return
        self.tally.results_that_differ += sum(
            results.get(key) != expected.get(key) for key in results.keys() | expected.keys()
        )
        tables = [
            (folder / "report" / "table.csv").read_bytes() for folder in (run, self._folder / "reference")
        ]
        self.tally.tables_that_differ += tables[0] != tables[1]

    def _count_batches(self) -> None:
        for ledger in self._folder.glob("run*.ledger"):
            lines = [json.loads(line) for line in ledger.read_text().splitlines()]
            asked = [line for line in lines if line["event"] == "asked"]
            self.tally.batches_asked += len(asked)
            self.tally.batches_cut_short += 2 * len(asked) - len(lines)
            self.tally.stored_batches_asked_again += sum(line["known"] for line in asked)


def _size(run: Path) -> int:
    names = (JOURNAL_NAME, RESULTS_NAME)
    return sum(path.stat().st_size for name in names for path in run.glob(f"*/{name}"))


def _orphans(session: int) -> int:
    """How many processes of a killed run live on after a minute; they are killed then."""
    until = time.monotonic() + 60  # a second or two on a quiet machine
    while left := [
        pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _session(pid) == session
    ]:
        if time.monotonic() > until:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            return len(left)
        time.sleep(0.05)
    return 0


def _session(pid: int) -> int:
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except (OSError, ValueError):
        return 0
    return 0 if state == "Z" else int(session)


def kill_test(
    num_kills: int, engine: str, seed: int, folder: Path, methods: str = METHODS, *, extends: bool = False
) -> Tally:
    """Kills runs of an engine `num_kills` times under `folder`; each run has a cell a method."""
    return KillTest(folder, engine, seed, methods, extends=extends).kill(num_kills)


def main() -> None:
    """Prints the tally; exits with 1 if anything was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--engine", choices=OF_ENGINE, default="transformers")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--methods", default=METHODS, help="as Hydra sweeps them: one,another")
    parser.add_argument("--extend", action="store_true", help="kill extensions of finished cells")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="icpo-kills-"))
    print(f"engine {arguments.engine}, seed {arguments.seed}, files in {folder}", flush=True)
    tally = kill_test(
        arguments.kills,
        arguments.engine,
        arguments.seed,
        folder,
        arguments.methods,
        extends=arguments.extend,
    )
    for name, value in asdict(tally).items():
        print(f"{name:26} {value}")
    sys.exit(0 if tally.is_clean else 1)


if __name__ == "__main__":
    main()
