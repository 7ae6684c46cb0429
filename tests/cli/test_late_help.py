"""The command under the check of help texts that Python 3.14's argparse makes whenever an option is added."""

import subprocess
import sys

import pytest

# What 3.14 does, in an interpreter that does not: the help of each option is expanded when it is added.
CHECKS_AT_ONCE = """
import argparse, sys

def expand(formatter, action):
    text = formatter._get_help_string(action)
    return text if "%" not in text else plain(formatter, action)

def check(self, action):
    if action.help and hasattr(self, "_get_formatter"):
        try:
            self._get_formatter()._expand_help(action)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError("badly formed help string") from error

def add(self, *names, **settings):
    action = plain_add(self, *names, **settings)
    self._check_help(action)
    return action

if not hasattr(argparse.ArgumentParser, "_check_help"):
    plain, argparse.HelpFormatter._expand_help = argparse.HelpFormatter._expand_help, expand
    plain_add, argparse._ActionsContainer.add_argument = argparse._ActionsContainer.add_argument, add
    argparse._ActionsContainer._check_help = check
"""


def python(script, *arguments):
    command = [sys.executable, "-c", CHECKS_AT_ONCE + script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_hydra_alone_crashes_under_the_check():
    done = python("from hydra._internal.utils import get_args_parser; get_args_parser()")
    if not done.returncode:
        pytest.skip("this Hydra has its own fix: late_help_texts can go")
    assert "badly formed help string" in done.stderr


QUICK = ["+exp=quickstart", "arm=base"]
STARTS = ([*QUICK, "--cfg", "job"], ["--hydra-help"], [*QUICK, "dry_run=true"])


@pytest.mark.parametrize("arguments", STARTS)
def test_the_command_starts_under_the_check(arguments):
    done = python("from icpo.cli.run import main; main()", *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


def test_texts_are_still_checked_and_the_check_is_put_back():
    script = """
from icpo.cli.late_help import late_help_texts

def add_bad():
    try:
        argparse.ArgumentParser().add_argument("--a", help="50% of all %(nothing)s")
    except ValueError as error:
        print(error)

before = argparse.ArgumentParser._check_help
with late_help_texts():
    add_bad()
assert argparse.ArgumentParser._check_help is before
"""
    done = python(script)
    assert done.stdout == "badly formed help string\n", done.stderr
