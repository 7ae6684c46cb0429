"""Seconds of CPU of quickstart's base and ME-ICPO, of this checkout and of older ones, one after the other.

    python experiments/throughput/quickstart.py ../older_checkout --repeats 2

The whole command counts: start, composition, sampling, grading, tables and figures.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[2]


@dataclass(frozen=True)
class Spent:
    """What one quickstart took, and how many tokens it sampled."""

    cpu_seconds: float
    wall_seconds: float
    generated_tokens: int


def spend(tree: Path, arms: str | None) -> Spent:
    """Run the quickstart of a checkout; `arms` None runs all it has."""
    with tempfile.TemporaryDirectory() as outputs:
        chosen = [f"arm={arms}"] if arms and (tree / "conf/budget").is_dir() else []
        command = ["-m", "icpo.run", "+exp=quickstart", f"output_root={outputs}", *chosen]
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        before = os.times()
        subprocess.run(
            [sys.executable, *command],
            cwd=tree,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        after = os.times()
        cells = Path(outputs).glob("*/*/metrics.json")
        tokens = sum(json.loads(path.read_text())["generated_tokens"] for path in cells)
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return Spent(cpu, after.elapsed - before.elapsed, tokens)


def main() -> None:
    """Measure the checkouts in turn and print each run; older ones of two arms are compared with two."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("older", type=Path, nargs="*", help="older checkouts")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--all-arms", action="store_true", help="self-consistency too, where there is one")
    options = parser.parse_args()
    arms = None if options.all_arms else "base,me_icpo"
    trees = [HERE, *(tree.resolve() for tree in options.older)]
    for _ in range(options.repeats):
        runs = [spend(tree, arms) for tree in trees]
        for tree, run in zip(trees, runs, strict=True):
            print(
                f"{tree.name:20} {run.cpu_seconds:7.1f} s CPU {run.wall_seconds:7.1f} s wall "
                f"{run.generated_tokens:9,} tokens, {runs[0].cpu_seconds / run.cpu_seconds:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
