"""ME-ICPO on the vLLM engine behind a journal: an engine that dies, and what a second start makes of it."""

import pytest

from icpo.engines.scripted import ScriptedEngine
from icpo.errors import EngineError
from icpo.evaluation.journalled import JournalledEngine
from icpo.methods import MeIcpo, Run, drive
from icpo.rewards import Majority
from icpo.selectors import Entropy
from icpo.store import Journal
from icpo.types import AnswerKind, Budget, Purpose, Question, Toolkit
from tests.methods.hand import BOOK, tally
from tests.sampling import sampling_of

pytestmark = pytest.mark.vllm

QUESTIONS = [
    Question("q1", "Ida has 5 pens and buys 7 more. How many pens does Ida have?", AnswerKind.NUMBER),
    Question("q2", "Omar has 12 cards and gives away 4. How many cards are left?", AnswerKind.NUMBER),
]
METHOD = MeIcpo(
    reward=Majority("majority", True),
    selector=Entropy("entropy", False),
    budget=Budget(num_rounds=2, num_candidates=3, num_lookaheads=4, num_finals=3),
)


class Failing:
    """Dies when completions are asked for the `fails_at`-th time."""

    def __init__(self, engine, fails_at):
        self.identity, self._engine, self._left = engine.identity, engine, fails_at
        self.block_questions = engine.block_questions
        self.submit, self.cancel, self.close = engine.submit, engine.cancel, engine.close

    def finished(self):
        self._left -= 1
        if self._left == 0:
            raise EngineError("the engine died")
        return self._engine.finished()


def first_digit(text, kind):
    """An answer for every text, so that all stages run whatever nano writes."""
    return next((c for c in text if c.isdigit()), "0")


def toolkit():
    sampling = {purpose: sampling_of(0.8, 0.95, 30) for purpose in Purpose}
    sampling[Purpose.SUMMARY] = sampling_of(0.0, 1.0, 15)
    return Toolkit(BOOK, sampling, first_digit, tally)


def solve(engine, journal_path):
    """The results of both questions, sorted, and how many records were written."""
    journal = Journal(journal_path)
    runs = [Run(METHOD.solve(question, toolkit(), seed=0)) for question in QUESTIONS]
    try:
        results = list(drive(runs, JournalledEngine(engine, journal, lambda: None), max_in_flight=2))
    finally:
        journal.close()
    return sorted(results, key=lambda result: result.question.question_id), journal.num_written


def test_a_run_whose_engine_dies_goes_on_and_replays_without_an_engine(engine, tmp_path):
    path = tmp_path / "journal.bin"
    with pytest.raises(EngineError, match="died"):
        solve(Failing(engine, fails_at=6), path)
    for ticket in range(1000):
        engine.cancel(ticket)  # a real death takes these along
    kept = len(path.read_bytes())
    results, num_written = solve(engine, path)
    assert path.stat().st_size > kept > 0
    assert [len(result.trace) for result in results] == [2, 2]
    num_requests = sum(result.usage.num_requests for result in results)
    assert 0 < num_written < num_requests
    replay = ScriptedEngine(lambda request, index: pytest.fail("sampled twice"))
    replay.identity = engine.identity
    again, none_written = solve(replay, path)
    assert again == results
    assert (none_written, replay.num_batches) == (0, 0)
