"""Faults that other graders have had, with the right values; with five or more of each kind.

A grade case expects true, false, or null for an abstention; an extract case the text or null; a vote case the
class that wins, or tie[...].
"""

import json
from pathlib import Path

import pytest

from icpo.grading import Grader
from icpo.types import AnswerKind

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text().strip().split("\n")]


def _cases(kind: str) -> pytest.MarkDecorator:
    chosen = [case for case in CASES if case["kind"] == kind]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=[case["id"] for case in chosen])


def test_each_kind_of_fault_has_five_cases_of_ours():
    handed = {case["id"] for case in CASES if "-" not in case["id"]}
    assert handed
    for fault in handed:
        assert sum(case["id"].startswith(f"{fault}-") for case in CASES) >= 5, fault


@_cases("grade")
def test_grade(case: dict, grader: Grader):
    kind = AnswerKind(case["answer_kind"])
    text = case["prediction"]
    if isinstance(text, dict):
        text = rf"\boxed{{{text['repeat'] * text['times']}}}"
    verdict = grader.judge(grader.extract(text, kind), case["gold"], kind)
    assert verdict.correct is case["expected"], verdict
    assert not verdict.timed_out


@_cases("extract")
def test_extract(case: dict, grader: Grader):
    assert grader.extract(case["prediction"], AnswerKind(case["answer_kind"])) == case["expected"]


@_cases("vote")
def test_vote(case: dict, grader: Grader):
    kind = AnswerKind(case["answer_kind"])
    winners = grader.tally(case["prediction"], kind).winners
    expected = case["expected"]
    if expected.startswith("tie["):
        assert ", ".join(winners) == expected[4:-1]
    else:
        assert [grader.judge(winner, expected, kind).correct for winner in winners] == [True]
