"""A dry run says what each cell needs, and once what a run would lack."""

from importlib.util import find_spec

import pytest

from tests.command_lines import ROOT, run_lines


def test_missing_weights_are_told_of_once_beside_the_needs(tmp_path):
    settings = ["benchmark=arith_l1,arith_l2", "backbone.model_id=/no/such/folder", f"output_root={tmp_path}"]
    [done] = run_lines([(ROOT, ["+exp=quickstart", "dry_run=true", *settings])])
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert said.count("there is no folder /no/such/folder") == 1
    assert "all 6 cells: at most" in said


@pytest.mark.skipif(find_spec("vllm") is not None, reason="needs a machine without vLLM")
def test_what_a_run_on_another_machine_needs_can_be_asked_here(tmp_path):
    settings = ["backbone=qwen7b", "benchmark=aime2024", f"output_root={tmp_path}"]
    modes = (["arm=me_icpo"], ["hydra.mode=RUN", "~arms"])
    lines = [(ROOT, ["+exp=main_table", "dry_run=true", *settings, *mode]) for mode in modes]
    for done in run_lines(lines):
        assert done.returncode == 0, done.stderr
        assert "GPU hours" in done.stdout + done.stderr
    assert not list(tmp_path.iterdir())


def test_a_job_without_an_estimate_is_named_and_gets_no_folder(tmp_path):
    line = ["+exp=probe", "dry_run=true", "tracking=none"]
    [done] = run_lines([(tmp_path, line)])
    assert done.returncode == 2
    assert "no estimate for nano-arith_l1-default, a Probe" in done.stderr
    assert not list(tmp_path.iterdir())
