"""What a user meets: one line for a mistake, nothing else, and nothing left of it in later reports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.config.conftest import PACKAGE

ROOT = Path(__file__).parents[2]


def run(own, *overrides):
    """`python -m icpo.run`, started in the user's folder."""
    command = [sys.executable, "-m", "icpo.run", "--config-dir=conf", "+exp=quickstart", "benchmark=arith_l1"]
    return subprocess.run(
        [*command, "tracking=none", "method=me_icpo", *overrides],
        cwd=own.folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )


ALLOWED = f"+allow_targets=[{PACKAGE}]"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["selector=broken"], "conf/selector/broken.yaml, line 2, column 2: expected ',' or ']'"),
        (["variant=full"], "variants are arms now"),
        (["hydra.sweep.subdir=.."], "output_root/run_name/CELL"),
        (["hydra.sweep.dir=elsewhere"], "output_root/run_name/CELL"),
        (["run_name=-x"], "as an option"),
        (["bugdet.num_rounds=3", "arm=base,me_icpo"], "Could not override 'bugdet.num_rounds'"),
        (["selector=weighed"], f"all of its package, ++allow_targets=['{PACKAGE}']"),
        (["selector=weighed", "benchmark=arith_l1,arith_l1", ALLOWED], "they are the same"),
    ],
)
def test_a_mistake_is_one_line_and_makes_no_report(own, overrides, message):
    own.write("conf/selector/broken.yaml", "a: [1\nb: 2\n")
    own.write("conf/method/bare.yaml", "_target_: icpo.methods.Direct\nname: bare\nprompt: plain\n")
    done = run(own, *overrides)
    assert done.returncode == 2
    [line] = [line for line in (done.stderr + done.stdout).splitlines() if "[HYDRA]" not in line]
    assert line.startswith("icpo: ") and message in line
    assert not list(own.folder.glob("outputs/*/report"))


@pytest.mark.parametrize("name", ["selector/entropy", "method/foreign"])
def test_a_file_named_like_one_of_the_projects_is_refused(own, name):
    own.write(f"conf/{name}.yaml", "a: 1\n")
    done = run(own, "dry_run=true")
    file = own.folder / f"conf/{name}.yaml"
    assert f"icpo: {file} would not be read: conf/ has a file of that name." in done.stderr
    assert done.returncode == 2


def test_what_editors_leave_is_passed_over(own):
    own.write("conf/selector/.ipynb_checkpoints/entropy.yaml", "a: 1\n")
    own.write("conf/.saved/selector/entropy.yaml", "a: 1\n")
    (own.folder / "conf/selector/.#entropy.yaml").symlink_to("somebody@somewhere.1234")
    done = run(own, "dry_run=true")
    assert done.returncode == 0, done.stderr


def test_help_tells_of_files_and_classes_of_ones_own(own):
    done = run(own, "--help")
    assert "--config-dir FOLDER" in done.stdout and "+allow_targets=[PACKAGE]" in done.stdout


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("hydra.launcher._target_=os.system", "hydra.launcher._target_ is 'os.system'"),
        ("hydra.sweeper._target_=os.system", "hydra.sweeper._target_ is 'os.system'"),
        ("hydra/launcher=slurm", "no sbatch on the PATH"),
    ],
)
def test_a_launcher_that_cannot_be_is_one_line(tmp_path, override, told):
    done = subprocess.run(
        [sys.executable, "-m", "icpo.run", "+exp=quickstart", override, f"output_root={tmp_path}"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PATH": "/nowhere"},
    )
    assert done.returncode == 1
    assert told in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
