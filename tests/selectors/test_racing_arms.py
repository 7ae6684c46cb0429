"""The arms of +exp=racing: what they share is sampled once, and each has a cell of its own."""

from dataclasses import replace
from itertools import pairwise

import pytest

from icpo.types import Purpose
from tests.arms import of_arm
from tests.end_to_end.fakes import Continuous, questions_file, reply, run
from tests.stored import read_results

ARMS = (
    "racing_uniform_m16",
    "racing_uniform_m8",
    "racing_uniform_m4",
    "racing_halving",
    "racing_merged",
    "racing_merged_halving",
    "racing_bound",
    "racing_exact",
    "racing_early_stop",
    "racing_forced_answer",
)
SETTINGS = ("budget.num_rounds=1", "budget.num_candidates=6", "budget.num_lookaheads=16")


class SeededBySample(Continuous):
    """Sample i of a request depends on its seed + i alone, as with the real engines."""

    def finished(self):
        ticket = max(self.waiting)
        request = self.waiting.pop(ticket)
        samples = [replace(request, seed=request.seed + i, num_samples=1) for i in range(request.num_samples)]
        return [(ticket, [completion for sample in samples for completion in reply(sample)])]


def sampled(engine, purpose):
    return sum(request.num_samples for request in engine.requests if request.purpose is purpose)


def first_round(cell):
    """The first round of each question, in one order whatever finished first."""
    return [row["trace"][0] for row in sorted(read_results(cell), key=lambda row: row["question_id"])]


def test_candidates_and_summaries_of_the_first_round_are_sampled_by_the_first_arm_alone(tmp_path):
    questions = questions_file(tmp_path)
    engines, cells = [], []
    for arm in ARMS:
        num_lookaheads = arm.removeprefix("racing_uniform_m") if "uniform" in arm else 16
        settings = (*SETTINGS[:2], f"budget.num_lookaheads={num_lookaheads}")
        cell, engine = run(tmp_path, questions, *of_arm("racing", arm), *settings, engine=Continuous())
        engines.append(engine)
        cells.append(cell)
    assert len(set(cells)) == len(ARMS)
    assert sampled(engines[0], Purpose.CANDIDATE) == 3 * 6 and sampled(engines[0], Purpose.SUMMARY) > 0
    for engine in engines[1:]:
        assert sampled(engine, Purpose.CANDIDATE) == sampled(engine, Purpose.SUMMARY) == 0
    for one, other in pairwise(cells):
        for mine, its in zip(first_round(one), first_round(other), strict=True):
            assert [c["draw"] for c in mine["candidates"]] == [c["draw"] for c in its["candidates"]]


def test_racing_samples_fewer_and_exact_elimination_keeps_the_same(tmp_path):
    questions = questions_file(tmp_path)
    cells, sampled_by = {}, {}
    for arm in ("racing_uniform_m16", "racing_halving", "racing_exact"):
        cells[arm], engine = run(
            tmp_path, questions, *of_arm("racing", arm), *SETTINGS, engine=SeededBySample()
        )
        sampled_by[arm] = sampled(engine, Purpose.LOOKAHEAD)
    assert sampled_by["racing_halving"] < 0.6 * sampled_by["racing_uniform_m16"]
    assert sampled_by["racing_exact"] <= sampled_by["racing_uniform_m16"]
    kept = {arm: [round_["kept"] for round_ in first_round(cell)] for arm, cell in cells.items()}
    assert kept["racing_exact"] == kept["racing_uniform_m16"]


@pytest.mark.parametrize("arm", ["racing_halving", "racing_exact"])
def test_an_interrupted_race_replays_to_the_same_end(tmp_path, arm):
    """The second run has the journal and no results: it samples nothing and stores the same."""
    questions = questions_file(tmp_path)
    cell, _ = run(tmp_path, questions, *of_arm("racing", arm), *SETTINGS, engine=Continuous())
    before = read_results(cell)
    for name in ("results.jsonl", "metrics.json"):
        (cell / name).unlink()
    _, engine = run(tmp_path, questions, *of_arm("racing", arm), *SETTINGS, engine=Continuous())
    assert engine.requests == []
    by_id = {row["question_id"]: row for row in read_results(cell)}
    assert by_id == {row["question_id"]: row for row in before}
