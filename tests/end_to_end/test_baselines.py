"""Every baseline is resumed like ME-ICPO: known samples are replayed, and the results are the same."""

import pytest

from icpo.errors import EngineError
from icpo.store import read_metrics
from tests.end_to_end.fakes import Blocks, Continuous, questions_file, run
from tests.stored import read_results

BASELINES = ("self_consistency", "best_of_n", "tot_self_eval", "tot_majority", "mctsr")


def broken_after(num_calls, engine):
    """An engine of this class that dies at its next answer after `num_calls`."""
    answer = engine.finished
    calls = []

    def dying(self, *arguments):
        if len(calls) == num_calls:
            raise EngineError("the engine died")
        calls.append(1)
        return answer(self, *arguments)

    return type("Dying", (engine,), {"finished": dying})()


def answered(engine):
    """How many requests an engine answered."""
    waiting = (
        () if engine.block_questions else engine.waiting
    )  # blocks count requests when they complete them
    return len(engine.requests) - len(waiting)


@pytest.mark.parametrize("engine", [Blocks, Continuous])
@pytest.mark.parametrize("method", BASELINES)
def test_a_baseline_goes_on_where_it_was_and_samples_nothing_twice(tmp_path, method, engine):
    questions = questions_file(tmp_path)
    arms = [f"method={method}"]
    whole, used = run(tmp_path / "whole", questions, *arms, engine=engine())
    broken = broken_after(1 if engine is Blocks else 5, engine)
    with pytest.raises(EngineError):
        run(tmp_path / "broken", questions, *arms, engine=broken)
    cell, rest = run(tmp_path / "broken", questions, *arms, engine=engine())

    def by_question(folder):
        return sorted(read_results(folder), key=lambda row: row["question_id"])

    assert by_question(cell) == by_question(whole)
    assert read_metrics(cell)["mean_at_k"] == read_metrics(whole)["mean_at_k"]
    assert answered(broken) > 0 and answered(broken) + answered(rest) == answered(used)
