"""Engines behind a journal: nothing is sampled twice."""

from dataclasses import replace

import pytest

from icpo.errors import EngineError
from icpo.evaluation.journalled import JournalledEngine, request_key
from icpo.methods import complete
from icpo.store import Journal
from icpo.types import Prompt, Purpose, SampleRequest
from tests.methods.test_drive import Blocks, Shuffling, reply
from tests.sampling import sampling_of

REQUEST = SampleRequest(Purpose.CANDIDATE, Prompt("s", "u"), sampling_of(0.6, 0.95, 10), 2, 7)


def never():
    pass


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield journal


def drain(engine, number):
    done = {}
    while len(done) < number:
        done |= dict(engine.finished())
    return done


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": Prompt("s", "v")},
        {"prompt": Prompt("su", "")},
        {"sampling": sampling_of(0.7, 0.95, 10)},
        {"sampling": sampling_of(0.6, 0.95, 10, stop=("x",))},
        {"num_samples": 3},
        {"seed": 8},
        {"scored": ("4}",)},
        {"scored": ("4}",), "score_after": "boxed{"},
    ],
)
def test_whatever_determines_an_answer_is_in_its_key(change):
    assert request_key("engine", REQUEST) != request_key("engine", replace(REQUEST, **change))


def test_the_engine_is_in_the_key_and_the_purpose_is_not():
    assert request_key("a", REQUEST) != request_key("b", REQUEST)
    assert request_key("a", REQUEST) == request_key("a", replace(REQUEST, purpose=Purpose.FINAL))


def test_keys_are_those_that_stored_journals_have():
    assert request_key("engine", REQUEST) == "2b38f678621b9db0a217fa84f991fd36"


def test_known_requests_are_not_sampled_again(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        inner = Shuffling(0)
        engine = JournalledEngine(inner, journal, never)
        engine.submit(0, REQUEST)
        first = drain(engine, 1)[0]
        assert engine.num_sampled_tokens == sum(one.num_completion_tokens for one in first) > 0
    with Journal(path) as journal:
        engine = JournalledEngine(Shuffling(0), journal, never)
        engine.submit(5, REQUEST)
        assert drain(engine, 1)[5] == first and first[0].draw
        assert journal.num_written == engine.num_sampled_tokens == 0


def test_equal_requests_in_flight_share_one_sample(journal):
    inner = Shuffling(0)
    engine = JournalledEngine(inner, journal, never)
    for ticket in range(3):
        engine.submit(ticket, REQUEST)
    done = drain(engine, 3)
    assert len(inner.log) == 1 and done[0] == done[1] == done[2]


def test_cancelling_one_of_two_leaves_the_sample_and_the_last_ends_it(journal):
    inner = Shuffling(0)
    engine = JournalledEngine(inner, journal, never)
    engine.submit(0, REQUEST)
    engine.submit(1, REQUEST)
    engine.cancel(0)
    assert inner.waiting
    engine.cancel(1)
    assert not inner.waiting
    engine.submit(2, REQUEST)
    assert list(drain(engine, 1)) == [2]


def test_a_cancelled_known_request_is_not_reported(journal):
    engine = JournalledEngine(Shuffling(0), journal, never)
    engine.submit(0, REQUEST)
    drain(engine, 1)
    engine.submit(1, REQUEST)
    engine.submit(2, REQUEST)
    engine.cancel(1)
    assert list(drain(engine, 1)) == [2]


def test_a_batch_is_one_record_and_its_shape_is_in_its_key(journal):
    other = replace(REQUEST, seed=8)
    inner = Blocks()
    engine = JournalledEngine(inner, journal, never)
    both = complete(engine, [REQUEST, other, REQUEST])
    assert both[0] == both[2] and len(inner.batches) == 1 and len(inner.batches[0]) == 2
    assert journal.num_written == 1
    assert complete(engine, [REQUEST, other, REQUEST]) == both and len(inner.batches) == 1
    complete(engine, [REQUEST])
    assert len(inner.batches) == 2, "a batch of another shape is another sample"


def test_a_run_told_to_stop_samples_no_further_batch(journal):
    class Stop(Exception):
        pass

    def stop():
        raise Stop

    inner = Blocks()
    with pytest.raises(Stop):
        complete(JournalledEngine(inner, journal, stop), [REQUEST])
    with pytest.raises(Stop):
        JournalledEngine(Shuffling(0), journal, stop).finished()
    assert not inner.batches


def test_a_batch_is_stored_once_it_is_whole(journal):
    class Slow(Blocks):
        """Completes a batch one request a call."""

        def finished(self):
            ticket = min(self.waiting)
            return [(ticket, reply(self.waiting.pop(ticket)))]

    engine = JournalledEngine(Slow(), journal, never)
    engine.submit(7, REQUEST)
    engine.submit(3, replace(REQUEST, seed=8))
    assert engine.finished() == [] and journal.num_written == 0
    assert [ticket for ticket, _ in engine.finished()] == [3, 7] and journal.num_written == 1


def test_questions_of_a_block_go_on_in_their_order_though_they_share_a_request(journal):
    """Otherwise a batch would hold the same requests in another order: another key, and other bits."""
    engine = JournalledEngine(Blocks(), journal, never)
    for ticket, seed in enumerate((1, 2, 1, 3)):
        engine.submit(ticket, replace(REQUEST, seed=seed))
    assert [ticket for ticket, _ in engine.finished()] == [0, 1, 2, 3]


def test_an_engine_without_log_probabilities_is_refused_a_scoring_request(journal):
    engine = JournalledEngine(Shuffling(0), journal, never)
    with pytest.raises(EngineError, match=r"method\.score=false"):
        engine.submit(0, replace(REQUEST, scored=("4}",)))
