"""Which interpreter makes the environment, and what is said where none can: all programs are fakes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/setup.sh"
INSTALL = """  *pip*)
    echo "  Downloading torch-2.9-cp311-linux.whl (900.1 MB)"; echo "  Downloading tiny.whl (9.2 MB)";;
"""
# `python -c CODE` answers by VERSION and whether it has venv; `python -m venv DIR` puts itself into DIR.
PYTHON = (
    """#!/bin/bash
case "$*" in
  *ensurepip*version_info*) {supported} && {has_venv};;
  *version_info*) {supported};;
  *ensurepip*) {has_venv};;
  --version) echo "{name}";;
  "-m venv"*) echo "{name} $*" >> "$LOG"; mkdir -p "${{@: -1}}/bin"; cp "$0" "${{@: -1}}/bin/python";;
"""
    + INSTALL.replace("{", "{{").replace("}", "}}")
    + """  *) exit 9;;
esac
"""
)
UV = """#!/bin/bash
[ "$1" = --version ] && echo "uv 9" && exit
echo "uv $*" >> "$LOG"
{fails} && exit 2
mkdir -p .venv/bin; cp "${{0%/*}}/inside" .venv/bin/python
"""


# Runs the script's code with the tests' own interpreter, as one that has neither pip nor ensurepip.
HOLLOW = f"""#!/bin/bash
exec '{sys.executable}' -c "import sys; sys.modules.update(ensurepip=None, pip=None); $2"
"""


class Machine:
    """A PATH of fake programs, and a checkout with the script."""

    def __init__(self, folder):
        self.folder, self.bin, self.log = folder / "a folder", folder / "bin", folder / "log"
        (self.folder / "scripts").mkdir(parents=True)
        self.bin.mkdir()
        shutil.copy(SCRIPT, self.folder / "scripts")
        for name in ("bash", "cp", "mkdir"):
            (self.bin / name).symlink_to(shutil.which(name))

    def add(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)
        return self

    def python(self, name, supported=True, has_venv=True):
        flags = {"supported": str(supported).lower(), "has_venv": str(has_venv).lower()}
        return self.add(name, PYTHON.format(name=name, **flags))

    def uv(self, fails=False):
        self.python("inside")
        return self.add("uv", UV.format(fails=str(fails).lower()))

    def setup(self, **more):
        env = {"PATH": str(self.bin), "LOG": str(self.log), **more}
        bash = shutil.which("bash")
        script = [bash, str(self.folder / "scripts/setup.sh")]
        return subprocess.run(script, env=env, capture_output=True, text=True, timeout=600, check=False)

    @property
    def chosen(self):
        return self.log.read_text().split()[0] if self.log.exists() else None


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_the_newest_tested_version_comes_first(machine):
    for name in ("python3", "python3.11", "python3.13", "python3.14"):
        machine.python(name)
    assert machine.setup().returncode == 0
    assert machine.chosen == "python3.13"


def test_an_interpreter_that_is_there_and_does_not_run_is_passed_over(machine):
    machine.add("python3.13", "#!/bin/bash\necho 'not installed' >&2; exit 127\n").python("python3.12")
    assert machine.setup().returncode == 0
    assert machine.chosen == "python3.12"


def test_one_without_venv_is_passed_over(machine):
    machine.python("python3.13", has_venv=False).python("python3.10")
    assert machine.setup().returncode == 0
    assert machine.chosen == "python3.10"


def test_plain_python3_is_taken_where_it_alone_is_supported(machine):
    machine.python("python3")
    assert machine.setup().returncode == 0
    assert machine.chosen == "python3"


def test_uv_comes_before_all_and_gives_way_where_it_fails(machine, tmp_path):
    machine.python("python3.12").uv()
    assert machine.setup().returncode == 0
    assert machine.chosen == "uv"
    other = Machine(tmp_path / "other").python("python3.12").uv(fails=True)
    assert other.setup().returncode == 0
    assert "python3.12 -m venv" in other.log.read_text()


def test_an_environment_that_is_there_is_kept_unless_another_interpreter_is_named(machine):
    machine.python("python3.12").python("python3.13")
    assert machine.setup(PYTHON="python3.12").returncode == 0
    again = machine.setup()
    assert "up to date" in again.stdout and machine.log.read_text().count("-m venv") == 1
    machine.setup(PYTHON="python3.13")
    assert machine.log.read_text().count("-m venv") == 2


def test_an_environment_that_does_not_run_is_made_again(machine):
    machine.python("python3.12").setup()
    (machine.folder / ".venv/bin/python").write_text("no program")
    assert machine.setup().returncode == 0
    assert machine.log.read_text().count("-m venv") == 2


def test_an_environment_without_pip_is_made_again(machine):
    machine.python("python3.12").setup()
    (machine.folder / ".venv/bin/python").write_text(HOLLOW)
    assert machine.setup().returncode == 0
    assert machine.log.read_text().count("-m venv") == 2


@pytest.mark.parametrize("said", [{"NO_UV": "1"}, {"PYTHON": "python3.12"}])
def test_uv_can_be_refused(machine, said):
    machine.python("python3.12").uv()
    assert machine.setup(**said).returncode == 0
    assert machine.chosen == "python3.12"


def test_what_it_is_doing_is_said_and_small_downloads_are_not(machine):
    lines = machine.python("python3.12").setup().stdout.splitlines()
    assert "python3.12" in lines[0] and "installing" in lines[1] and "ready" in lines[-1]
    assert any(line.endswith("torch-2.9, 900 MB") for line in lines)
    assert not any("tiny" in line for line in lines)


@pytest.mark.parametrize(
    ("made", "word"),
    [
        (lambda m: m, "3.10 to 3.14"),
        (lambda m: m.python("python3", supported=False), "3.10 to 3.14"),
        (lambda m: m.python("python3", has_venv=False), "python3-venv"),
    ],
)
def test_what_is_missing_is_one_line(machine, made, word):
    done = made(machine).setup()
    assert done.returncode == 1 and not machine.chosen
    [line] = done.stderr.splitlines()
    assert word in line


def test_a_named_interpreter_that_will_not_do_is_named(machine):
    machine.python("python3.12").python("old", supported=False).add("hollow", HOLLOW)
    for name in ("old", "hollow"):
        done = machine.setup(PYTHON=name)
        assert done.returncode == 1 and f"PYTHON={name}" in done.stderr


def test_the_checkout_may_have_any_folder(machine):
    machine.python("python3.12").setup(PWD=os.getcwd())
    assert (machine.folder / ".venv/bin/python").is_file()
