"""Command lines of `icpo run`, all in one process: its start takes longer than most of them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAM = """
import contextlib, io, json, os, sys, traceback
from icpo.cli.run import main
done = []
for folder, arguments in json.load(sys.stdin):
    os.chdir(folder)
    sys.path[0], sys.argv = folder, ["icpo run", *arguments]
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
            if isinstance(status, str):
                print(status, file=sys.stderr)
                status = 1
        except BaseException:
            traceback.print_exc()
            status = 1
    done.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""


@dataclass(frozen=True)
class Done:
    """What a command line left: its exit status and what it printed."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def lines(self):
        """What a user reads, Hydra's own lines left out."""
        return [line for line in (self.stderr + self.stdout).splitlines() if "[HYDRA]" not in line]


def run_lines(lines, **environment):
    """Runs pairs of a folder to start in and arguments, one after the other."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": str(ROOT), **environment},
        input=json.dumps([[str(folder), list(arguments)] for folder, arguments in lines]),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == len(lines)
    return [Done(*one) for one in found]
