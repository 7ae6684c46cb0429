"""What may be loaded before an experiment is known, and how soon help answers."""

import subprocess
import sys
import time

HEAVY = ["torch", "transformers", "vllm", "wandb", "pandas", "matplotlib", "math_verify", "sympy", "openai"]


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60)


def test_the_entry_point_loads_nothing_heavy():
    done = python("-c", f"import sys, icpo.run; print([m for m in {HEAVY!r} if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_help_answers_quickly_and_lists_the_presets():
    began = time.monotonic()
    done = python("-m", "icpo.run", "--help")
    seconds = time.monotonic() - began
    assert done.returncode == 0
    for preset in ("quickstart", "main_table", "ablation", "nk_sweep", "policy_matching"):
        assert preset in done.stdout
    assert "torch" not in done.stderr
    assert seconds < 20, f"{seconds:.1f} s: something heavy is imported"
