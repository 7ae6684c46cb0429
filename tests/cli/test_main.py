"""The command icpo: which words it knows, what it passes on, and its exit statuses."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from icpo.cli.listing import stored_runs
from icpo.cli.main import COMMANDS, main
from icpo.cli.output import without_traceback
from tests.report.stored_runs import MadeUpCell

ROOT = Path(__file__).parents[2]


def icpo(*words, cwd, given=""):
    command = [sys.executable, "-m", "icpo", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, input=given, check=False)


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"icpo {name}" in shown for name in COMMANDS)
    assert main([]) == 2


def test_an_unknown_word_is_refused_with_those_that_there_are(capsys):
    assert main(["verfy"]) == 2
    assert "'verfy'" in capsys.readouterr().err


def test_a_preset_needs_no_word(tmp_path):
    done = icpo("+exp=nothing", cwd=tmp_path)
    assert done.returncode == 2 and "nothing" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_stored_cell_is_verified_by_its_name_and_removed_after_asking(tmp_path):
    cell = MadeUpCell().write(tmp_path / "outputs", "run")
    name = f"run/{cell.name}"
    assert icpo("status", "run", cwd=tmp_path).returncode == 0
    assert cell.name in icpo("verify", name, cwd=tmp_path).stdout
    assert icpo("verify", "elsewhere", cwd=tmp_path).returncode == 2
    refused = icpo("remove", name, cwd=tmp_path)
    assert refused.returncode == 1 and cell.is_dir()
    assert icpo("remove", name, cwd=tmp_path, given="yes\n").returncode == 0 and not cell.exists()


def test_a_cell_that_cannot_be_salvaged_does_not_keep_the_others_from_it(tmp_path):
    first, second = (
        MadeUpCell(benchmark=name).write(tmp_path / "outputs", "run") for name in ("arith_l1", "arith_l2")
    )
    (first / "manifest.json").unlink()
    with (second / "results.jsonl").open("a") as file:
        file.write('{"a": 1}\n')
    done = icpo("salvage", "run", cwd=tmp_path)
    assert done.returncode == 2 and first.name in done.stderr
    assert (second / "results.jsonl.damaged").exists() and f"{second.name}: " in done.stdout


@pytest.mark.parametrize(
    "words", [("grade", "boxed{0.5}", "\\frac12"), ("report", "--help"), ("list", "--help")]
)
def test_commands_are_passed_on(words, tmp_path):
    assert icpo(*words, cwd=tmp_path).returncode == 0


def test_stored_runs_are_listed_by_state(tmp_path):
    MadeUpCell().write(tmp_path, "mine")
    (tmp_path / "empty").mkdir()
    assert list(stored_runs(tmp_path)) == ["mine: 1 done"]


def test_the_installed_command_is_this_one():
    scripts = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[project.scripts]")[2]
    module, _, name = re.search(r'^icpo = "(.*)"', scripts, re.M)[1].partition(":")
    assert getattr(import_module(module), name) is main


def test_the_installed_command_finds_packages_of_the_folder_it_is_started_in(tmp_path):
    script = tmp_path / "icpo"
    script.write_text("import sys\nfrom icpo.cli.main import main\nsys.exit(main())\n")
    words = [
        "run",
        "--config-dir",
        "conf",
        "+exp=mine",
        "arm=shortest",
        "dry_run=true",
        f"output_root={tmp_path}",
    ]
    command = [sys.executable, str(script), *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    folder = ROOT / "examples/extending"
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_an_interrupted_question_whether_to_delete_ends_with_130(tmp_path):
    cell = MadeUpCell().write(tmp_path / "outputs", "run")
    command = [sys.executable, "-m", "icpo", "remove", f"run/{cell.name}"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background jobs ignore it
    )
    assert process.stdout.read(6) == b"Delete"
    time.sleep(0.3)  # it has come to read by then, mostly
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        process.send_signal(signal.SIGINT)  # one just before the read is noticed after it
        with suppress(subprocess.TimeoutExpired):  # a second one while it ends would kill it
            process.wait(timeout=15)
    assert process.returncode == 130 and cell.is_dir()


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "list",
        "run --help",
        "status run",
        "verify run",
        pytest.param("report run", marks=pytest.mark.slow),
    ],
)
def test_output_that_cannot_be_written_is_no_traceback(words, tmp_path):
    MadeUpCell().write(tmp_path / "outputs", "run")
    for into, message, status in (("| true", "", 1), ("> /dev/full", "No space left", 1), (">&-", "", 0)):
        command = f"set -o pipefail; {shlex.quote(sys.executable)} -m icpo {words} {into}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
        assert "Traceback" not in done.stderr and "Exception" not in done.stderr
        assert message in done.stderr and done.returncode == status


def test_an_error_of_another_kind_keeps_its_traceback(tmp_path):
    with pytest.raises(FileNotFoundError), without_traceback():
        (tmp_path / "absent").read_text()
