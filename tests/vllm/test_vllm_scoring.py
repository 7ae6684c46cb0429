"""Log-probabilities of given texts on vLLM: those of the transformers engine."""

from dataclasses import replace

import pytest

from icpo.engines.local.transformers import Transformers
from icpo.errors import EngineError
from icpo.types import FinishReason
from tests.vllm.conftest import CONTEXT_TOKENS, answers, ask, nano

pytestmark = pytest.mark.vllm

PROMPTS = ["What is 3 + 4?", "Ida has 5 pens and buys 7 more.", "Sum up: 12 - 5 = 7. " * 20]
TEXTS = (
    "7}",
    "12}",
    "We add: 3 + 4 = 7.",
    "",
    "7}",
    "7" * 150,
)  # the last is longer than a block of the cache


def scoring(prompt, texts=TEXTS, score_after=""):
    return replace(ask(prompt, len(texts)), scored=texts, score_after=score_after)


def test_scores_are_those_of_the_transformers_engine(engine):
    settings = Transformers("transformers", "cpu", "float32", block_questions=4, max_batch_rows=64)
    other = settings.start(nano(), max_context_tokens=CONTEXT_TOKENS)
    requests = [scoring(prompt, score_after=after) for prompt in PROMPTS for after in ("", "boxed{")]
    theirs = answers(other, requests)
    for _ in range(2):  # the second time vLLM's cache holds prompts and texts
        for ours, wanted in zip(answers(engine, requests), theirs, strict=True):
            log_probabilities = [completion.log_probability for completion in ours]
            assert log_probabilities == pytest.approx([c.log_probability for c in wanted], abs=1e-3)
            assert log_probabilities[TEXTS.index("")] == 0
            plain = [replace(c, log_probability=None) for c in ours]
            assert plain == [replace(c, log_probability=None) for c in wanted]


def test_words_before_the_text_change_its_score(engine):
    [without], [after] = (answers(engine, [scoring(PROMPTS[0], ("7}",), words)]) for words in ("", "boxed{"))
    assert abs(without[0].log_probability - after[0].log_probability) > 0.1


def test_requests_to_score_and_to_sample_run_side_by_side(engine):
    requests = [
        ask(PROMPTS[0], 4, seed=3),
        scoring(PROMPTS[0]),
        ask(PROMPTS[1], 2, seed=5),
        scoring(PROMPTS[1]),
    ]
    alone = [answers(engine, [request])[0] for request in requests]
    before = engine.accounting()
    together = answers(engine, requests)
    after = engine.accounting()
    assert [[c.text for c in part] for part in together] == [[c.text for c in part] for part in alone]
    for found, wanted in zip(together[1::2], alone[1::2], strict=True):
        wanted = [c.log_probability for c in wanted]
        assert [c.log_probability for c in found] == pytest.approx(wanted, abs=1e-3)
    assert all(c.log_probability is None for part in together[::2] for c in part)
    spent = {name: after[name] - before[name] for name in ("requests", "sequences", "generated_tokens")}
    sampled = [c for part in together[::2] for c in part]
    assert spent == {
        "requests": 2 + 2 * len(TEXTS),
        "sequences": len(sampled),
        "generated_tokens": sum(c.num_completion_tokens for c in sampled),
    }


def test_a_text_that_does_not_fit_leaves_its_request_without_scores(engine):
    long = "7" * CONTEXT_TOKENS  # nano's digits are single tokens
    refused, kept = answers(engine, [scoring(PROMPTS[0], ("7}", long)), scoring(PROMPTS[0], ("7}",))])
    assert [(c.text, c.finish_reason) for c in refused] == [("", FinishReason.PROMPT_TOO_LONG)] * 2
    assert {c.log_probability for c in refused} == {None}
    assert kept[0].log_probability < 0


def test_a_cancelled_request_to_score_leaves_nothing_behind(engine):
    engine.submit(1, scoring(PROMPTS[0]))
    engine.submit(2, ask(PROMPTS[1]))
    engine.cancel(1)
    assert [ticket for ticket, _ in engine.finished()] == [2]
    assert not engine._process.engine.has_unfinished_requests()
    with pytest.raises(EngineError, match="in flight"):
        engine.finished()
    assert answers(engine, [scoring(PROMPTS[0])])[0][0].log_probability < 0


def test_more_texts_than_run_at_once_are_all_scored(engine):
    texts = tuple(f"{i}}}" for i in range(40))
    scored = answers(engine, [scoring(f"What is {i} + {i}?", texts) for i in range(8)])
    assert all([c.text for c in part] == list(texts) for part in scored)
    assert all(c.log_probability < 0 for part in scored for c in part)
