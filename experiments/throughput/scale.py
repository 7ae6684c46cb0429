"""Seconds of CPU and memory of every command beside runs of many cells, and for cells of many questions.

    python experiments/throughput/scale.py cells 10 100 1000
    python experiments/throughput/scale.py questions 100 1000 10000
    python experiments/throughput/scale.py cells 10 100 --tree ../older_checkout

Everything is real but the engine, which is scripted. Each command is a process of its own, whose CPU seconds
and peak memory the operating system counts. The exponent is the slope of log(seconds) over log(size) between
the two largest sizes, less what an empty command (`icpo.run --help`) costs: about 1 where work is linear.
There is none where a command takes no more than the empty one.
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ENGINE = ["+exp=quickstart", "engine=scripted", "tracking=none"]
NUM_BENCHMARKS = 5
QUESTIONS_A_CELL = 10


@dataclass(frozen=True)
class Spent:
    """CPU seconds, wall seconds and peak memory of one command; `output_bytes` of what it wrote."""

    part: str
    size: int
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    output_mb: float | None = None


@dataclass(frozen=True)
class Place:
    """A checkout whose code is measured, and the folder that runs are written to."""

    tree: Path
    outputs: Path

    def spend(
        self,
        part: str,
        size: int,
        arguments: Sequence[str],
        *,
        until: Path | None = None,
        writes: Path | None = None,
    ) -> list[Spent]:
        """Run `python ARGUMENTS`; with `until` also what was spent when that file appeared, as its start."""
        start = time.perf_counter()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(self.tree)}
        log = self.outputs.with_suffix(".log").open("a")
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=self.tree, env=environment, stdout=log, stderr=log
        )
        began = []
        if until is not None:
            while not any(until.parents[1].glob(f"{until.parent.name}/{until.name}")) and not _has_ended(
                process.pid
            ):
                time.sleep(0.01)
            began = [Spent(f"{part} start", size, _cpu_seconds(process.pid), time.perf_counter() - start, 0)]
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        wall, cpu = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
        if os.waitstatus_to_exitcode(status) == 2:
            raise SystemExit(f"{part} failed; see {log.name}")
        spent = [
            *began,
            Spent(part, size, cpu, wall, usage.ru_maxrss / 1024, _size_mb(writes) if writes else None),
        ]
        for one in spent:
            print(
                f"{one.part:14} {size:6} {one.cpu_seconds:9.2f} s CPU {one.wall_seconds:9.2f} s wall "
                f"{one.peak_mb:7.0f} MB" + (f", wrote {one.output_mb:.1f} MB" if writes else ""),
                flush=True,
            )
        return spent

    def run(self, part: str, size: int, overrides: Sequence[str], **options: Path) -> list[Spent]:
        """Run cells."""
        arguments = ["-m", "icpo.run", *ENGINE, f"output_root={self.outputs}", *overrides]
        return self.spend(part, size, arguments, **options)

    def read(self, size: int, run_name: str) -> Iterator[Spent]:
        """What reads a finished run."""
        outputs = f"--outputs={self.outputs}"
        yield from self.spend("status", size, ["-m", "icpo.status", run_name, outputs])
        yield from self.spend("report", size, ["-m", "icpo.report", run_name, outputs])
        written = self.outputs / run_name / "dashboard"
        yield from self.spend("dashboard", size, ["-m", "icpo.dashboard", run_name, outputs], writes=written)
        yield from self.spend("regrade", size, ["-m", "icpo.regrade", run_name, outputs])


def measure_cells(place: Place, size: int) -> Iterator[Spent]:
    """A run of `size` cells of ME-ICPO beside five of the base, and what every command costs then."""
    name = f"cells{size}"
    common = [f"run_name={name}", f"benchmark.limit={QUESTIONS_A_CELL}", *_sizes(place.tree)]
    place.run("base", size, [*common, "method=direct"])
    # Each cell samples with a temperature of its own, so that none can use another's samples.
    temperatures = ",".join(str(round(0.3 + i / 1000, 3)) for i in range(max(size // NUM_BENCHMARKS, 1)))
    cell = r"cell=c_${benchmark.name}_${protocol.sampling.candidate.temperature}"
    sweep = [*common, "method=me_icpo", cell, f"protocol.sampling.candidate.temperature={temperatures}"]
    yield from place.run("sweep", size, sweep, until=place.outputs / name / "c_*/manifest.json")
    yield from place.run("resume", size, sweep)
    one = [*common, "method=me_icpo", "benchmark=arith_l1", "benchmark.limit=1", "hydra.mode=RUN"]
    yield from place.run(
        "cell start", size, [*one, "cell=one_more", "protocol.sampling.candidate.temperature=0.9"]
    )
    yield from place.read(size, name)


def measure_questions(place: Place, size: int) -> Iterator[Spent]:
    """One cell of `direct` with so many questions."""
    name, file = f"questions{size}", place.outputs.with_name(f"questions{size}.jsonl")
    rows = [
        {"id": f"q{i}", "problem": f"How much is {i} plus {i}?", "answer": str(i % 3)} for i in range(size)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = ["benchmark=aime2024", f"benchmark.path={file}", "benchmark.expected_count=null"]
    cell = [
        f"run_name={name}",
        *source,
        "benchmark.limit=null",
        "method=direct",
        "hydra.mode=RUN",
        "cell=one",
    ]
    yield from place.run("direct", size, cell)
    yield from place.run("resume", size, cell)
    yield from place.read(size, name)


def _sizes(tree: Path) -> list[str]:
    """One round of four attempts; the keys of an older checkout are others."""
    sizes = {"num_rounds": 1, "num_candidates": 4, "num_lookaheads": 4, "num_finals": 4}
    group = "budget" if (tree / "conf/budget").is_dir() else "protocol"
    return [f"{group}.{key}={value}" for key, value in sizes.items()]


def _has_ended(pid: int) -> bool:
    return _stat(pid)[0] in "ZX"


def _cpu_seconds(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def exponents(spent: Sequence[Spent], empty_seconds: float) -> dict[str, float]:
    """The slope between the two largest sizes of each part, without the cost of an empty command.

    Parts that take no more than the empty command have none.
    """
    found = {}
    for part in dict.fromkeys(one.part for one in spent):
        *_, a, b = sorted((one for one in spent if one.part == part), key=lambda one: one.size)
        rest = [one.cpu_seconds - empty_seconds for one in (a, b)]
        if min(rest) > 0:
            found[part] = math.log(rest[1] / rest[0]) / math.log(b.size / a.size)
    return found


def main() -> None:
    """Measure, print, and add the rows to a CSV file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["cells", "questions"])
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument(
        "--tree", type=Path, default=Path(__file__).parents[2], help="the checkout to measure"
    )
    parser.add_argument("--outputs", type=Path, help="keep the runs here")
    parser.add_argument("--csv", type=Path, help="write the rows here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outputs = (options.outputs or Path(folder)).resolve() / "outputs"
        outputs.mkdir(parents=True)
        place = Place(options.tree.resolve(), outputs)
        [empty] = place.spend("empty", 0, ["-m", "icpo.run", "--help"])
        measure = measure_cells if options.what == "cells" else measure_questions
        spent = [one for size in options.sizes for one in measure(place, size)]
    if len(options.sizes) > 1:
        for part, slope in exponents(spent, empty.cpu_seconds).items():
            print(f"{part:14} exponent {slope:5.2f}")
    if options.csv:
        with options.csv.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow([options.what, *Spent.__dataclass_fields__])
            writer.writerows([options.what, *vars(one).values()] for one in [empty, *spent])


if __name__ == "__main__":
    main()
