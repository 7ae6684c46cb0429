"""The evaluation job on a fake engine: whose work is booked to a cell, and which rewards know the golds."""

from dataclasses import dataclass

import pytest

from icpo.errors import BenchmarkError, ConfigError, ContractError
from icpo.evaluation.engine_pool import POOL
from icpo.methods import Direct
from icpo.rewards.oracle import with_oracle
from icpo.store import read_metrics, read_status
from tests.end_to_end.fakes import (
    Blocks,
    Continuous,
    Settings,
    composed_for,
    questions_file,
    run,
    run_composed,
)
from tests.stored import read_results


@dataclass(slots=True)
class Counting(Blocks):
    """Blocks that keep an account, of other work before this cell's too."""

    card: str = "a"
    sequences: int = 0

    def answer(self, request):
        self.sequences += request.num_samples
        return Blocks.answer(self, request)

    def accounting(self):
        return {"sequences": self.sequences, "card": self.card}


def hold_another():
    """Leaves an engine of another cell in the pool, as within a sweep."""
    POOL.get(Settings(Counting(card="b", sequences=1000)), "another backbone", 100)


def test_a_cell_after_one_on_another_engine_is_charged_its_own_work(tmp_path):
    source = questions_file(tmp_path)
    hold_another()
    cell, engine = run(tmp_path, source, "method=direct", engine=Counting())
    assert engine.sequences == 3 * 4
    assert read_metrics(cell)["engine_account"] == {"sequences": 3 * 4, "card": "a"}


def test_a_cell_that_samples_nothing_keeps_the_account_of_what_was_sampled(tmp_path):
    source = questions_file(tmp_path)
    cell, _ = run(tmp_path, source, "method=direct", engine=Counting())
    account = read_metrics(cell)["engine_account"]
    hold_another()
    cell, engine = run(tmp_path, source, "method=direct", engine=Counting())
    assert engine.sequences == 0 and account["sequences"] == 12
    assert read_metrics(cell)["engine_account"] == account


def test_a_method_that_only_calls_something_its_reward_need_be_no_dataclass():
    class Own:
        reward = "mine"

    method = Own()
    assert with_oracle(method, lambda question, answer: True) is method


FOREIGN = ["method=foreign", "reward=oracle"]
INVERTED = ["reward=inverted", "reward.inner={_target_:icpo.rewards.Oracle,name:oracle,tagged:true}"]


def shown_tags(cell):
    """The tags of the ideas in order, question by question."""
    rows = sorted(read_results(cell), key=lambda row: (row["seed"], row["question_id"]))
    return [
        [step["value"]] if step["type"] == "step" else step["rewards"]["tags"]
        for row in rows
        for step in row["trace"]
    ]


@pytest.mark.parametrize("arm", [FOREIGN, INVERTED])
def test_an_oracle_inside_a_control_is_told_the_golds(tmp_path, arm):
    tags = []
    for name, golds in (("none", ("77", "77", "77")), ("some", ("1", "2", "3"))):
        (tmp_path / name).mkdir()
        cell, _ = run(tmp_path / name, questions_file(tmp_path / name, golds=golds), *arm)
        tags.append(shown_tags(cell))
    wrong = 1 if arm is INVERTED else 0
    assert {tag for step in tags[0] for tag in step} == {wrong}
    assert {tag for step in tags[1] for tag in step} == {0, 1}


@pytest.mark.parametrize("arm", [FOREIGN, INVERTED])
def test_an_oracle_inside_a_control_refuses_questions_without_a_gold(tmp_path, arm):
    path = tmp_path / "question.txt"
    path.write_text("Why?")
    with pytest.raises(BenchmarkError, match="reward=oracle"):
        run(tmp_path / "out", path, *arm)


@pytest.mark.parametrize("engine", [Blocks, Continuous])
def test_a_method_that_breaks_its_protocol_fails_its_cell_in_one_line(tmp_path, monkeypatch, engine):
    monkeypatch.setattr(Direct, "solve", lambda *_, **__: "4")
    with pytest.raises(ContractError, match="method=direct: solve"):
        run(tmp_path, questions_file(tmp_path), "method=direct", engine=engine())
    [cell] = tmp_path.glob("nano-*")
    assert read_status(cell)["reason"].startswith("ContractError: method=direct: solve must")
    assert not read_results(cell)


def test_a_method_that_cannot_solve_is_refused_before_its_cell_begins(tmp_path, monkeypatch):
    monkeypatch.delattr(Direct, "solve")
    config = composed_for(questions_file(tmp_path), "method=direct")
    with pytest.raises(ConfigError, match=r"Method.*solve"):
        run_composed(config, tmp_path, Blocks())
    assert not list(tmp_path.glob("nano-*"))
