"""Every command and Python block of README and the pages: run, or composed where it needs more than a CPU."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from omegaconf import OmegaConf

from icpo.cli.main import COMMANDS
from icpo.cli.main import main as icpo_main
from icpo.config import build, check_arguments, check_config
from tests.arms import planned
from tests.composing import composed
from tests.docs.pages import ROOT, blocks, commands, overrides_of, run_names, words_of
from tests.report.stored_runs import MadeUpCell, me_icpo

NOT_RUN = {  # how a command begins: why no test runs it
    "python -m venv": "makes an environment; tests/scripts/test_setup.py",
    "source": "changes the reader's shell",
    ". ": "changes the reader's shell",
    "pip install": "installs packages",
    "uv ": "installs packages",
    "git clone": "needs the address of a clone",
    "cd ": "changes the reader's shell",
    "export": "changes the reader's shell",
    "vllm serve": "needs a GPU",
    "python -m icpo.dashboard wandb": "needs an account; tests/tracking/test_workspace.py",
    "icpo dashboard wandb": "needs an account; tests/tracking/test_workspace.py",
    "icpo salvage": "rewrites damaged cells; tests/store",
    "python -m icpo.report RUN_NAME --track": "needs W&B; tests/tracking",
    "icpo run --config-dir": "a folder of one's own; tests/end_to_end/test_extending.py",
    "python -m icpo.run --config-dir": "a folder of one's own; tests/end_to_end/test_extending.py",
    "pytest": "the tests themselves",
}
NEEDS_MORE = ("qwen", "gemini", "llama", "gemma", "smollm", "theirs")  # no CPU samples them
NEEDED = {"solve": ["question_file=-"]}
PLACES = {"$benchmark": "aime2024", "+exp=NAME": "+exp=quickstart"}
SMALL = [
    "benchmark.limit=1", "budget.num_rounds=1", "budget.num_candidates=2", "budget.num_lookaheads=2",
    "budget.num_finals=2", "tracking=none",
]  # fmt: skip
FOUND = commands()
RUNS = [found for found in FOUND if overrides_of(found.text) and "--config-dir" not in found.text]
OTHERS = [found for found in FOUND if found not in RUNS]
PYTHON = blocks("python")


def filled(command):
    """A command with values for its variables."""
    for place, value in PLACES.items():
        command = command.replace(place, value)
    return command


@pytest.mark.parametrize("found", RUNS, ids=str)
def test_every_run_composes_and_builds(found):
    overrides = [one for one in overrides_of(filled(found.text)) if not one.startswith(("-", "hydra"))]
    check_arguments(overrides)
    preset = next(one for one in overrides if one.startswith("+exp=")).removeprefix("+exp=")
    for name in preset.split(","):
        own = [one for one in overrides if not one.startswith("+exp=")]
        needed = [one for one in NEEDED.get(name, []) if not any(o.startswith("question_file=") for o in own)]
        cells = planned(name, *own, *needed)
        config = composed(*cells[0].overrides)
        check_config(config)
        if not OmegaConf.missing_keys(config):
            build(config.job)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the stored runs that commands name."""
    outputs = tmp_path_factory.mktemp("reader") / "outputs"
    for run in run_names():
        MadeUpCell("arith_l1").write(outputs, run)
        me_icpo("arith_l1").write(outputs, run).rename(outputs / run / "CELL")
    return outputs.parent


@pytest.mark.parametrize("found", OTHERS, ids=str)
def test_every_other_command_runs_or_says_why_not(found, folder, monkeypatch, capsys):
    if any(found.text.startswith(start) for start in NOT_RUN):
        return
    words = words_of(found.text)
    program, first = words[0], words[2 if words[1] == "-m" else 1]
    if program == "make":
        command = ["make", "-n", *words[1:]]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    elif program == "icpo" or first.removeprefix("icpo.") in COMMANDS:
        monkeypatch.chdir(folder)
        run_here(first.removeprefix("icpo."), words[words.index(first) + 1 :], monkeypatch)
    elif program in ("python", ".venv-vllm/bin/python") and words[1] == "-m":
        assert find_spec(first), found
    elif program in ("python", "bash"):
        assert (ROOT / first).is_file(), found
    else:
        pytest.fail(f"{found}: no test knows how to run {program!r}; add it here, or a reason to NOT_RUN")


def run_here(command, rest, monkeypatch):
    """Runs a command of icpo in this process; what asks is answered no, what serves only writes."""
    assert command in COMMANDS or command in ("--help", "help"), command
    is_name = not rest and command not in ("list", "--help", "help")
    if is_name or command == "regrade":
        return  # the name alone, in a sentence; or what needs more than made-up cells: see below
    monkeypatch.setattr("builtins.input", lambda prompt="": "n")
    is_asked = command == "remove" and "--yes" not in rest
    words = [word for word in rest if word not in ("--serve", "[OTHER", "...]")]
    assert icpo_main([command, *words]) in ((0, 1) if is_asked else (0,)), words


def test_the_loop_over_the_cards_of_a_node_gives_each_command_a_card_of_its_own(tmp_path):
    [loop] = [block.text for block in blocks("bash") if "CUDA_VISIBLE_DEVICES=" in block.text]
    command = tmp_path / "icpo"
    command.write_text('#!/bin/sh\n[ "$1" = run ] && echo "$CUDA_VISIBLE_DEVICES" >> cards\nexit 0\n')
    command.chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", loop], cwd=tmp_path, env=environment, check=True)
    assert sorted((tmp_path / "cards").read_text().split()) == list("0123456")


@pytest.mark.parametrize("found", PYTHON, ids=lambda found: found.page)
def test_every_python_block_is_python(found):
    compile(found.text, found.page, "exec")


def typed(words, folder):
    """A process of a reader in a folder; fails with what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("found", PYTHON, ids=lambda found: found.page)
def test_every_python_block_runs(found, folder):
    if "http://" in found.text:
        pytest.skip("needs a server; tests/api")
    typed(["-c", found.text], folder)


@pytest.mark.slow
def test_every_command_on_stored_texts_runs(tmp_path):
    found = [one for one in OTHERS if words_of(one.text)[1].endswith("regrade") and "RUN" in one.text]
    assert found
    run = ["+exp=quickstart", "run_name=RUN", "benchmark=arith_l1", "arm=base", *SMALL]
    typed(["-m", "icpo.run", *run], tmp_path)
    for one in found:
        typed(["-m", "icpo", "regrade", *words_of(one.text.replace("RUN_NAME", "RUN"))[2:]], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("found", RUNS, ids=str)
def test_every_run_starts(found, tmp_path):
    """With small settings where nano samples it, as a dry run where a larger model would."""
    overrides = overrides_of(filled(found.text))
    if not any(one.startswith("+exp=quickstart") for one in overrides):
        pytest.skip("the preset is composed above, and its own tests run it")
    (tmp_path / "FILE.csv").write_text("id,question,answer\n1,Ben has 2 pens. How many?,2\n")
    is_large = any(name in one for one in overrides for name in NEEDS_MORE)
    typed(["-m", "icpo.run", *overrides, *(["dry_run=true"] if is_large else SMALL)], tmp_path)
