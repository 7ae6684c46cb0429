import os
import re
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/on_gpus.sh"


def on_gpus(commands, logs, *options):
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    ended = subprocess.run(
        [SCRIPT, *options, logs], input="\n".join(commands), capture_output=True, text=True, env=environment
    )
    assert not ended.stderr
    return ended.returncode, ended.stdout.splitlines()


def test_each_command_is_logged_and_told_with_its_status(tmp_path):
    status, lines = on_gpus(["echo 'a  b' [c]", "", "sh -c 'echo no; exit 3'"], tmp_path / "logs")
    assert status != 0
    told = [re.fullmatch(r"(\d+) \d+ (.*)", line).groups() for line in lines]
    assert told == [("0", "echo 'a  b' [c]"), ("3", "sh -c 'echo no; exit 3'")]
    logs = {path.name: path.read_text() for path in (tmp_path / "logs").iterdir()}
    assert logs == {"001.log": "a  b [c]\n", "002.log": "no\n"}


def test_places_are_spread_over_the_gpus_and_never_shared(tmp_path):
    held = f"mkdir {tmp_path}/$PLACE; sleep 0.2; rmdir {tmp_path}/$PLACE; "
    told = "echo $PLACE $CUDA_VISIBLE_DEVICES $OMP_NUM_THREADS"
    status, lines = on_gpus([held + told] * 8, tmp_path / "logs", "-g", "2", "-p", "2")
    assert (status, len(lines)) == (0, 8)
    seen = [path.read_text().split() for path in (tmp_path / "logs").iterdir()]
    assert {tuple(row) for row in seen} == {
        ("0", "0", "2"),
        ("1", "1", "2"),
        ("2", "0", "2"),
        ("3", "1", "2"),
    }


def test_at_the_deadline_what_runs_is_told_to_stop_and_nothing_starts(tmp_path):
    counting = (
        "import signal, time; seen = []; signal.signal(15, lambda *_: seen.append(1))\n"
        "while not seen: time.sleep(0.05)\n"
        "time.sleep(0.2); print(len(seen))"
    )
    (tmp_path / "counting.py").write_text(counting)
    patient = f"python3 {tmp_path}/counting.py"
    status, lines = on_gpus([patient, "echo never"], tmp_path / "logs", "-t", "3")
    assert status != 0
    assert [line.split(" ", 2)[::2] for line in lines] == [["124", patient], ["-", "echo never"]]
    assert [(p.name, p.read_text()) for p in (tmp_path / "logs").iterdir()] == [("001.log", "1\n")]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-g", "0", "LOGS"], "whole numbers above 0, got '0'"),
        (["-p", "0", "LOGS"], "whole numbers above 0, got '0'"),
        (["-t", "1.5", "LOGS"], "whole numbers above 0, got '1.5'"),
        (["-g", "two", "LOGS"], "whole numbers above 0, got 'two'"),
        ([], "LOG_FOLDER"),
        (["LOGS", "-g", "2"], "LOG_FOLDER"),
    ],
)
def test_with_options_that_cannot_be_nothing_runs(options, told, tmp_path):
    ended = subprocess.run(
        [SCRIPT, *options], input="touch ran", capture_output=True, text=True, cwd=tmp_path
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert told in ended.stderr
    assert not list(tmp_path.iterdir())
