import pytest

from icpo.engines.scripted import Scripted, ScriptedEngine
from icpo.errors import EngineError
from icpo.methods import complete
from icpo.types import Prompt, Purpose, SampleRequest
from tests.engines.conftest import backbone_of
from tests.sampling import sampling_of


def ask(text, num_samples=1, seed=0):
    return SampleRequest(Purpose.FINAL, Prompt("", text), sampling_of(1, 1, max_tokens=9), num_samples, seed)


def echo(request, index):
    return f"{request.prompt.user} {index}"


def test_the_continuous_engine_answers_in_either_order_and_records_what_it_answered():
    for is_latest_first, wanted in ((False, [1, 2]), (True, [2, 1])):
        engine = ScriptedEngine(echo, is_latest_first=is_latest_first)
        engine.submit(1, ask("a", 2))
        engine.submit(2, ask("b"))
        engine.submit(3, ask("c"))
        engine.cancel(3)
        answers = [engine.finished()[0], engine.finished()[0]]
        assert [ticket for ticket, _ in answers] == wanted
        assert [c.text for c in dict(answers)[1]] == ["a 0", "a 1"]
        assert (engine.num_batches, engine.cancelled, len(engine.requests)) == (2, [3], 2)
        with pytest.raises(EngineError, match="in flight"):
            engine.finished()


def test_a_failed_batch_loses_nothing():
    engine = ScriptedEngine(echo, fails_at=[0])
    engine.submit(1, ask("a"))
    with pytest.raises(EngineError, match="batch 0"):
        engine.finished()
    assert engine.finished()[0][0] == 1
    blocks = ScriptedEngine(echo, block_questions=2, fails_at=[1])
    assert [[c.text for c in answer] for answer in complete(blocks, [ask("a"), ask("b")])] == [
        ["a 0"],
        ["b 0"],
    ]
    with pytest.raises(EngineError, match="batch 1"):
        complete(blocks, [ask("c")])
    assert len(blocks.requests) == 2


def test_settings_give_texts_in_turn_to_the_first_piece_found(tmp_path):
    settings = Scripted("scripted", {"sum": ["3", "4"], "": ["?"]}, block_questions=None)
    engine = settings.start(backbone_of(tmp_path), max_context_tokens=9)
    assert engine.block_questions is None
    engine.submit(0, ask("the sum", 3, seed=1))
    engine.submit(1, ask("other"))
    assert [c.text for c in engine.finished()[0][1]] == ["4", "3", "4"]
    assert [c.text for c in engine.finished()[0][1]] == ["?"]
    blocks = Scripted("scripted", {"sum": ["3"]}, block_questions=4).start(
        backbone_of(tmp_path), max_context_tokens=9
    )
    assert blocks.block_questions == 4
    with pytest.raises(EngineError, match=r"'other'.*engine\.answers"):
        complete(blocks, [ask("other")])


def test_a_block_has_a_question_at_least():
    with pytest.raises(ValueError, match="block_questions"):
        Scripted("scripted", {"": ["?"]}, block_questions=0)
