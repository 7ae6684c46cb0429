"""What is sent for a request, and what comes back for it."""

import logging
from dataclasses import replace

import pytest

pytest.importorskip("openai")

from icpo.errors import EngineError
from icpo.types import FinishReason
from tests.engines.api.conftest import SAMPLING, ask, collect, faulty_once, wait
from tests.engines.api.playing import BACKBONE as MODEL
from tests.engines.api.playing import KEY
from tests.engines.openai_server import COMPLETION_TOKENS, PROMPT_TOKENS


@pytest.mark.parametrize("supports_n", [True, False])
def test_samples_and_their_tokens_come_back_with_their_ticket(server, start, supports_n):
    engine = start(supports_n=supports_n, prompt_price=1e6, completion_price=2e6)
    answers = collect(engine, [ask("a", n=3), ask("b", n=1)])
    assert {ticket: len(completions) for ticket, completions in answers.items()} == {0: 3, 1: 1}
    assert all(c.text.startswith("a#") for c in answers[0]) and answers[1][0].text.startswith("b#")
    assert len({c.text for completions in answers.values() for c in completions}) == 4
    for completion in answers[0] + answers[1]:
        assert (completion.num_prompt_tokens, completion.num_completion_tokens) == (
            PROMPT_TOKENS,
            COMPLETION_TOKENS,
        )
        assert completion.finish_reason is FinishReason.STOP
    num_calls = 2 if supports_n else 4
    assert len(server.requests) == engine.spent.requests == num_calls
    assert engine.accounting() == {
        "requests": num_calls,
        "prompt_tokens": num_calls * PROMPT_TOKENS,
        "generated_tokens": 4 * COMPLETION_TOKENS,
        "cost_dollars": num_calls * PROMPT_TOKENS + 2 * 4 * COMPLETION_TOKENS,
    }


@pytest.mark.parametrize("supports_n", [True, False])
def test_a_greedy_request_is_one_call_charged_once_and_given_for_each_sample(server, start, supports_n):
    """Without n, as vLLM's server wants it: "n must be 1 when using greedy sampling"."""
    engine = start(supports_n=supports_n, max_requests=1, prompt_price=1e6, completion_price=1e6)
    given = collect(engine, [ask(n=3, sampling=replace(SAMPLING, temperature=0.0))])[0]
    assert ["n" in body for _, _, body, _ in server.requests] == [False]
    assert [completion.text for completion in given] == server.served * 3
    assert engine.accounting() == {
        "requests": 1,
        "prompt_tokens": PROMPT_TOKENS,
        "generated_tokens": COMPLETION_TOKENS,
        "cost_dollars": PROMPT_TOKENS + COMPLETION_TOKENS,
    }


def test_chat_requests_carry_sampling_seed_and_thinking_switches(server, start):
    options = (("enable_thinking", False),)
    engine = start(replace(MODEL, template_options=options), template_options_field="chat_template_kwargs")
    collect(engine, [ask(n=2, seed=2**40 + 5)])
    path, headers, body, _ = server.requests[0]
    assert path == "/v1/chat/completions" and headers["Authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "some/model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "6*7"}],
        "max_tokens": 20,
        "temperature": 0.6,
        "top_p": 0.95,
        "stop": ["END"],
        "n": 2,
        "seed": 5,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_base_models_are_sent_the_raw_prompt(server, start):
    sampling = replace(SAMPLING, stop=(), min_tokens=8, repetition_penalty=1.1)
    engine = start(replace(MODEL, chat_template="none"), supports_extras=True, supports_seed=False)
    collect(engine, [ask(sampling=sampling)])
    path, _, body, _ = server.requests[0]
    assert path == "/v1/completions"
    assert body == {
        "model": "some/model",
        "prompt": "Be brief.\n\n6*7",
        "max_tokens": 20,
        "temperature": 0.6,
        "top_p": 0.95,
        "min_tokens": 8,
        "repetition_penalty": 1.1,
        "top_k": -1,
        "min_p": 0.0,
    }


def test_calls_that_go_well_leave_no_line_in_the_log(start, caplog):
    with caplog.at_level(logging.INFO):
        collect(start(), [ask("a"), ask("b")])
    assert caplog.records == []


def test_calls_without_n_have_seeds_of_their_own(server, start):
    collect(start(supports_n=False), [ask(n=4, seed=10)])
    assert sorted(body["seed"] for _, _, body, _ in server.requests) == [10, 11, 12, 13]
    assert all("n" not in body for _, _, body, _ in server.requests)


def test_sampling_that_the_server_does_not_know_is_refused_rather_than_dropped(server, start):
    engine = start()
    engine.submit(0, ask(sampling=replace(SAMPLING, repetition_penalty=1.1)))
    with pytest.raises(EngineError, match=r"supports_extras=true"):
        wait(engine)
    assert server.requests == []


def test_samples_that_a_reply_lacked_are_asked_for_with_the_seeds_that_are_left(server, start):
    server.plan = faulty_once("fewer choices")
    collect(start(), [ask(n=3, seed=10)])
    assert [(body.get("n"), body["seed"]) for _, _, body, _ in server.requests] == [(3, 10), (None, 12)]
