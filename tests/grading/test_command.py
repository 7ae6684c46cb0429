"""`python -m icpo.grading`: what it prints."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from icpo.grading.__main__ import main


def _json(capsys, *arguments):
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_verdict(capsys):
    assert _json(capsys, r"So \boxed{0.5}.", r"\frac12", "--kind", "expression") == {
        "extracted": "0.5",
        "normal_form": r"\frac{1}{2}",
        "verdict": True,
        "rule": "same_value",
    }


def test_an_abstention(capsys):
    report = _json(capsys, "I do not know the answer.", "5", "--kind=number")
    assert report == {"extracted": None, "normal_form": None, "verdict": None, "rule": "abstained"}


def test_a_gold_letter_means_a_choice_unless_a_kind_is_given(capsys):
    assert _json(capsys, r"\boxed{\Delta E}. Answer: D", "D")["extracted"] == "D"
    assert _json(capsys, r"\boxed{\Delta E}. Answer: D", "D", "--kind", "expression")["verdict"] is False


@pytest.mark.parametrize("answer", ["-2,1", "-\\frac{\\pi}{6}", "-x", "-1 --- 2"])
def test_answers_that_look_like_options(capsys, answer):
    assert _json(capsys, answer, answer)["verdict"] is True


def test_votes(capsys):
    assert _json(capsys, "--votes", "0.5", r"\frac12", "3", "", "-3") == {
        "winners": [r"\frac{1}{2}"],
        "counts": [[r"\frac{1}{2}", 2], ["3", 1], ["-3", 1]],
        "num_abstained": 1,
    }
    assert _json(capsys, "--votes", "A", "(A)", "B", "--kind", "choice")["counts"] == [["A", 2], ["B", 1]]
    assert _json(capsys, "--votes", "", "") == {"winners": [], "counts": [], "num_abstained": 2}


def test_for_people(capsys):
    main([r"\boxed{25}", "025", "--kind", "number"])
    assert capsys.readouterr().out.split() == [
        "extracted:",
        "25",
        "normal_form:",
        "25",
        "verdict:",
        "correct",
        "rule:",
        "same_value",
    ]


def test_nothing_to_grade_is_a_usage_error(capsys):
    with pytest.raises(SystemExit):
        main(["5"])
    assert "--votes" in capsys.readouterr().err


def test_as_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "icpo.grading", "boxed{7}", "7.0", "--json"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["verdict"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1", "1", "--timeout", "-3"], "number of seconds above 0, got -3"),
        (["1", "1", "--timeout", "x"], "invalid"),
        (["1", "2", "--votes", "3"], "not both"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_two_dashes_end_the_options(capsys):
    main(["--json", "--", "-\\frac12", "-0.5"])
    assert json.loads(capsys.readouterr().out)["verdict"] is True
