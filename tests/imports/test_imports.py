"""What may be loaded before an experiment is known, and how soon help answers."""

import os
import subprocess
import sys

HEAVY = ["torch", "transformers", "vllm", "wandb", "pandas", "matplotlib", "math_verify", "sympy", "openai"]


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=600)


def test_the_entry_point_loads_nothing_heavy():
    done = python("-c", f"import sys, icpo.run; print([m for m in {HEAVY!r} if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_help_answers_quickly_and_lists_the_presets():
    began = os.times()
    done = python("-m", "icpo.run", "--help")
    seconds = os.times().children_user - began.children_user
    assert done.returncode == 0
    for preset in ("quickstart", "main_table", "ablation", "nk_sweep", "policy_matching"):
        assert preset in done.stdout
    assert "torch" not in done.stderr
    assert seconds < 8, f"{seconds:.1f} s on the processor: something heavy is imported"
