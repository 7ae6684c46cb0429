import time

import pytest

from icpo.engines.local.transformers import Transformers
from icpo.errors import EngineError
from icpo.types import FinishReason, Purpose
from tests.engines import contract
from tests.vllm.conftest import CONTEXT_TOKENS, answers, ask, nano, settings_of

pytestmark = pytest.mark.vllm

TEXTS = ["What is 3 + 4?", "Ida has 5 pens and buys 7 more.", "x", "Sum up: 12 - 5 = 7, so \\boxed{7}."]


@pytest.mark.parametrize("situation", contract.SITUATIONS, ids=lambda situation: situation.__name__)
def test_the_contract(engine, situation):
    situation(engine, CONTEXT_TOKENS)


def test_greedy_completions_are_those_of_the_transformers_engine(engine):
    settings = Transformers("transformers", "cpu", "float32", block_questions=4, max_batch_rows=64)
    other = settings.start(nano(), max_context_tokens=CONTEXT_TOKENS)
    requests = [ask(text, temperature=0, top_p=1, max_tokens=60) for text in TEXTS]
    for [ours], [theirs] in zip(answers(engine, requests), answers(other, requests), strict=True):
        assert (ours.text, ours.finish_reason) == (theirs.text, theirs.finish_reason)
        assert ours.num_prompt_tokens == theirs.num_prompt_tokens
        assert ours.num_completion_tokens == theirs.num_completion_tokens


@pytest.mark.parametrize("purpose", [Purpose.SUMMARY, Purpose.FINAL])
def test_greedy_samples_of_one_prompt_are_sampled_once_and_all_alike(engine, purpose):
    greedy = {"purpose": purpose, "temperature": 0, "top_p": 1}
    before = engine.accounting()
    one, three = answers(engine, [ask(TEXTS[0], 1, **greedy), ask(TEXTS[0], 3, **greedy)])
    [text] = {c.text for c in one + three}
    assert text and [len(one), len(three)] == [1, 3]
    assert engine.accounting()["sequences"] - before["sequences"] == 2


def test_samples_follow_their_seed_and_index(engine):
    def draw(num_samples, seed):
        return ask(TEXTS[0], num_samples, seed, temperature=2.0, max_tokens=24, min_tokens=24)

    assert engine.block_questions is None
    [first] = answers(engine, [draw(4, 1)])
    [again] = answers(engine, [draw(4, 1)])
    assert [c.text for c in again] == [c.text for c in first]
    assert len({c.text for c in first}) == 4
    parts = answers(engine, [draw(2, 1), draw(2, 3)])
    assert [c.text for part in parts for c in part] == [c.text for c in first]


def test_a_completion_ends_at_the_limit_or_a_stop_string(engine):
    [free] = answers(engine, [ask(TEXTS[1], 8)])
    longest = max((c.text for c in free), key=len)
    stop = longest[len(longest) // 2 :][:2]
    [stopped] = answers(engine, [ask(TEXTS[1], 8, stop=(stop,))])
    assert [c.text for c in stopped] == [c.text.split(stop)[0] for c in free]
    assert FinishReason.STOP in {c.finish_reason for c in stopped}
    [short] = answers(engine, [ask(TEXTS[1], 8, max_tokens=2, min_tokens=2)])
    assert {(c.num_completion_tokens, c.finish_reason) for c in short} == {(2, FinishReason.LENGTH)}


def test_a_prompt_without_room_is_answered_so_and_a_tight_one_is_clipped(engine):
    long, tight = "7" * CONTEXT_TOKENS, "7" * (CONTEXT_TOKENS - 12)  # nano's digits are single tokens
    refused, clipped = answers(engine, [ask(long, 2), ask(tight, 2, max_tokens=100, min_tokens=100)])
    assert [(c.text, c.finish_reason) for c in refused] == [("", FinishReason.PROMPT_TOO_LONG)] * 2
    assert [(c.num_completion_tokens, c.finish_reason) for c in clipped] == [(12, FinishReason.LENGTH)] * 2


def test_a_cancelled_request_is_never_reported_and_leaves_nothing_behind(engine):
    engine.submit(1, ask(TEXTS[0], 8, max_tokens=200, min_tokens=200))
    engine.submit(2, ask(TEXTS[1]))
    engine.submit(3, ask(TEXTS[1], purpose=Purpose.FINAL, num_samples=3, max_tokens=200, min_tokens=200))
    for ticket in (1, 3):
        engine.cancel(ticket)
    assert [ticket for ticket, _ in engine.finished()] == [2]
    assert not engine._process.engine.has_unfinished_requests()
    with pytest.raises(EngineError, match="in flight"):
        engine.finished()


def test_more_requests_than_fit_wait_and_all_are_answered(engine):
    requests = [ask(f"What is {i} + {i}?", 8, seed=i) for i in range(40)]
    assert all(len(answer) == 8 for answer in answers(engine, requests))


def test_accounting_adds_up(engine):
    before = engine.accounting()
    [completions] = answers(engine, [ask(TEXTS[0], 5)])
    after = engine.accounting()
    assert after["requests"] - before["requests"] == 1
    assert after["sequences"] - before["sequences"] == 5
    assert after["prompt_tokens"] - before["prompt_tokens"] == completions[0].num_prompt_tokens
    generated = sum(c.num_completion_tokens for c in completions)
    assert after["generated_tokens"] - before["generated_tokens"] == generated
    assert 0 < after["peak_cache_blocks"] <= after["cache_blocks"]
    assert after["dtype"] == "float32"
    assert after["weights_gb"] > 0
    assert after["busy_seconds"] > before["busy_seconds"]


def test_samples_start_together_and_steps_are_timed(engine):
    before, start = engine.accounting(), time.perf_counter()
    lengths = [5 + 7 * i % 41 for i in range(160)]
    requests = [ask(f"What is {i}?", seed=i, max_tokens=n, min_tokens=n) for i, n in enumerate(lengths)]
    done = answers(engine, requests)
    wall, after = time.perf_counter() - start, engine.accounting()
    assert [c.num_completion_tokens for [c] in done] == lengths

    def spent(name):
        return after[name] - before[name]

    # 64 at once, then 96 more by 16 or more
    assert 2 <= spent("num_reading_steps") <= 1 + 96 // 16
    assert spent("num_shared_reading_steps") == spent("num_reading_steps") - 1  # all but the first
    assert spent("shared_reading_seconds") > 0
    assert 0.3 * wall < spent("shared_reading_seconds") + spent("decoding_seconds") < wall


def test_in_process_a_second_engine_is_refused(engine):
    with pytest.raises(EngineError, match="in_process=false"):
        settings_of().start(nano(), max_context_tokens=128)
