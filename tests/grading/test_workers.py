"""The pool: limits, isolation, death with the parent."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from icpo.grading import Grader, GradingRules
from icpo.grading.workers import GradingError, Outcome, WorkerPool
from icpo.types import AnswerKind

TOWER = "5^{5^{5^{5^5}}}"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def pool():
    one = WorkerPool(timeout_seconds=3.0, memory_limit_mb=1024, max_workers=2)
    yield one
    one.close()


def test_math_verify_decides_what_arithmetic_cannot(pool):
    assert pool.ask(r"\sin(2x)", r"2 \sin x \cos x") is Outcome.EQUAL
    assert pool.ask(r"\sin(2x)", r"2 \sin x") is Outcome.DIFFERENT
    assert pool.num_exceeded == 0


def test_a_question_beyond_its_limits_is_ended_and_counted_and_the_next_one_answered():
    pool = WorkerPool(timeout_seconds=1.0, memory_limit_mb=512, max_workers=1)
    assert pool.ask(TOWER, "4").is_exceeded
    assert pool.num_exceeded == 1
    assert pool.ask("x + x", "2x") is Outcome.EQUAL
    pool.close()


def test_memory_is_limited():
    pool = WorkerPool(timeout_seconds=20.0, memory_limit_mb=256, max_workers=1)
    outcome = pool.ask("7" * 60_000_000, "4")
    assert outcome in (Outcome.MEMORY_LIMIT, Outcome.CRASHED)
    assert pool.ask("x + x", "2x") is Outcome.EQUAL
    pool.close()


def test_works_from_many_threads(pool):
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: pool.ask(f"\\sin({n}x) + 1", f"1 + \\sin({n}x)"), range(2, 26)))
    assert answers == [Outcome.EQUAL] * 24
    assert threading.active_count() < 8


def test_a_worker_killed_from_outside_is_replaced(pool):
    assert pool.ask("x + x", "2x") is Outcome.EQUAL
    for child in _children(os.getpid()):
        os.kill(child, signal.SIGKILL)
    assert pool.ask("y + y", "2y") is Outcome.EQUAL


def test_what_one_cell_asked_the_next_one_knows():
    before = set(_children(os.getpid()))
    one, other = (Grader(GradingRules(), timeout_seconds=2.5, max_workers=1) for _ in range(2))
    question = (r"\cot x", r"\frac{\cos x}{\sin x}", AnswerKind.EXPRESSION)
    assert one.judge(*question).rule == "math_verify"
    one.close()
    assert other.judge(*question).correct
    assert set(_children(os.getpid())) <= before


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_workers_die_with_a_parent_that_is_killed(busy):
    script = f"""
        import threading
        from icpo.grading.workers import WorkerPool
        pool = WorkerPool(timeout_seconds=1.0, memory_limit_mb=1024, max_workers=1)
        pool.ask("x + x", "2x")
        if {busy}:
            threading.Thread(target=pool.ask, args=({TOWER!r}, "4"), daemon=True).start()
        print("asked", flush=True)
        threading.Event().wait()
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, stdout=subprocess.PIPE, env=_environment()
    )
    assert parent.stdout is not None and parent.stdout.readline() == b"asked\n"
    workers = _children(parent.pid)
    assert workers
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 45
    while any(map(_is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_is_running, workers))


def test_nothing_starts_and_nothing_heavy_is_imported_before_it_is_needed():
    script = """
        import os, sys
        from icpo.grading import Grader, GradingRules
        from icpo.types import AnswerKind
        with Grader(GradingRules()) as grader:
            assert grader.judge("0.5", r"\\frac12", AnswerKind.EXPRESSION).correct
            assert grader.num_asked == 0
        heavy = {"sympy", "math_verify", "latex2sympy2_extended", "torch", "hydra"} & set(sys.modules)
        children = open(f"/proc/self/task/{os.getpid()}/children").read().split()
        print(sorted(heavy), children)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=_environment(),
    )
    assert done.stdout == "[] []\n", done.stderr


def test_a_worker_that_cannot_start_is_an_error_that_says_how_to_fix_it(pool, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(GradingError, match=r"/bin/false.*math-verify"):
        pool.ask("x", "y")
    with pytest.raises(GradingError, match="math-verify"):
        pool.check()


def test_limits_must_make_sense():
    with pytest.raises(ValueError, match="timeout_seconds"):
        WorkerPool(timeout_seconds=0, memory_limit_mb=1024, max_workers=1)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
