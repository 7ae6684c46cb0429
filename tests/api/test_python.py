"""The Python API: answers and stored runs; tests/docs runs every block of its page."""

import subprocess
import sys
from pathlib import Path

import pytest

import icpo
from icpo.config import build
from icpo.errors import ConfigError, EngineError
from icpo.methods import Direct
from icpo.types import Budget, Candidate, Completion, FinishReason, QuestionResult

ROOT = Path(__file__).parents[2]
QUESTION = "Ben has 135 gems. He finds 41 more gems. How many gems does Ben have now?"
SMALL = ["budget.num_rounds=1", "budget.num_candidates=2", "budget.num_lookaheads=2", "budget.num_finals=4"]


@pytest.fixture(scope="module")
def solver():
    with icpo.Solver("me_icpo", backbone="nano", overrides=SMALL) as solver:
        yield solver


def test_importing_the_package_loads_nothing_heavy():
    heavy = ("torch", "pandas", "hydra", "transformers")
    code = f"import sys, icpo; print(*[name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == ""


def test_an_answer_holds_its_text_share_trace_and_costs(solver):
    answer = solver(QUESTION, kind="number", seed=0)
    assert answer.text == "176"
    assert answer.share in {i / 4 for i in range(5)} and answer.share > 0
    assert len(answer.rounds) == 1 and len(answer.rounds[0].candidates) == 2
    assert answer.usage.num_sequences == 2 + 2 + 4 + 4
    assert answer.result.question.text == QUESTION


def test_answers_do_not_depend_on_their_neighbours_and_keep_their_order(solver):
    other = "Mia has 24 pens. She gets 13 more pens. How many pens does Mia have?"
    alone = solver(QUESTION)
    both = solver.map([other, QUESTION, other])
    assert [one.result.question.text for one in both] == [other, QUESTION, other]
    assert both[0] == both[2] and both[1].text == alone.text


def test_a_method_object_solves_too():
    with icpo.Solver(Direct(budget=Budget(num_finals=3)), backbone="nano") as solver:
        answer = solver(QUESTION)
    assert len(answer.result.finals[-1][1]) == 3


class HalfAndHalf:
    """A method whose final samples are two answers, each given twice."""

    name = label = "half_and_half"

    def solve(self, question, tools, *, seed):
        yield from ()
        answers = [Candidate(Completion("", 1, 1, FinishReason.STOP), text) for text in ("1", "22")]
        return QuestionResult(question, seed, (), ((0, (*answers, *answers)),))


def test_a_tied_vote_is_broken_by_the_seed():
    with icpo.Solver(HalfAndHalf()) as solver:
        answers = [solver(QUESTION, seed=seed) for seed in range(12)]
        assert solver(QUESTION, seed=0) == answers[0]
    assert {answer.text for answer in answers} == {"1", "22"}
    assert {answer.share for answer in answers} == {0.5}
    with icpo.Solver(HalfAndHalf()) as solver:
        others = [solver(f"{QUESTION} Again, {i}.", seed=0) for i in range(12)]
    assert {answer.text for answer in others} == {"1", "22"}, "another question, another choice"


def test_a_model_has_the_same_protocol_by_name_and_by_hub_id(monkeypatch):
    jobs = []
    monkeypatch.setattr("icpo.api.build", lambda job: jobs.append(build(job)) or jobs[-1])
    for overrides in ([], ["protocol=small"]):
        for backbone in ("nano", "qwen2_5_0_5b", "Qwen/Qwen2.5-0.5B-Instruct"):
            icpo.Solver(backbone=backbone, overrides=overrides)
    assert [job.protocol.name for job in jobs] == ["quick", "paper", "paper", "small", "small", "small"]
    assert jobs[1].method.budget == jobs[2].method.budget == Budget()


def test_a_closed_solver_starts_anew(solver):
    first = solver(QUESTION)
    solver.close()
    assert solver(QUESTION) == first


def test_wrong_names_are_refused_with_what_there_is(solver):
    with pytest.raises(ConfigError, match="me_icpo"):
        icpo.Solver("me_icp")
    with pytest.raises(ConfigError, match="nano"):
        icpo.Solver(backbone="nanu")
    with pytest.raises(ConfigError, match="kind"):
        solver(QUESTION, kind="text")
    with pytest.raises(EngineError, match="models"):
        icpo.Solver(backbone="http://127.0.0.1:9/v1")


def test_a_run_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConfigError, match="mine"):
        icpo.load_run("yours", outputs=tmp_path)


@pytest.mark.slow
def test_a_refused_preset_raises_and_leaves_no_cell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError):
        icpo.evaluate("quickstart", "benchmark.limit=none")
    assert not list(tmp_path.rglob("manifest.json"))
