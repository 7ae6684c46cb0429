"""The openai engine against a real server on loopback: each fault is retried or counted, nothing is lost."""

import logging
import random
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest

pytest.importorskip("openai")

from icpo.backbones import Backbone
from icpo.engines.api.settings import OpenAISettings
from icpo.errors import BudgetError, EngineError
from icpo.types import FinishReason, Prompt, Purpose, SampleRequest
from tests.engines.openai_server import COMPLETION_TOKENS, FAULTS, PROMPT_TOKENS, Server
from tests.sampling import sampling_of

KEY = "sk-very-secret-key"
MODEL = Backbone("m", "some/model", None, 100, "auto", "own", 1, None, 0, (), None, 0, True)
SILENT = {"index": 0, "finish_reason": "stop", "message": {"content": ""}}
SAMPLING = sampling_of(temperature=0.6, top_p=0.95, max_tokens=20, stop=("END",), min_room_tokens=4)


def settings(server, **changes):
    values = dict(
        name="openai",
        base_url=server.base_url,
        api_key_env="ICPO_TEST_KEY",
        max_concurrency=16,
        timeout_seconds=0.8,
        max_retries=8,
        first_wait_seconds=0.01,
        max_wait_seconds=5.0,
        supports_n=True,
        supports_seed=True,
        supports_extras=False,
        headers={},
        requests_per_minute=None,
        max_n=None,
        stream=False,
        template_options_field=None,
        max_tokens_field="max_tokens",
        max_requests=None,
        max_tokens=None,
        max_cost=None,
        prompt_price=None,
        completion_price=None,
    )
    return OpenAISettings(**values | changes)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("ICPO_TEST_KEY", KEY)


@pytest.fixture
def server():
    with Server() as running:
        yield running


@pytest.fixture
def start(server):
    """Starts engines for the server and closes them."""
    engines = []

    def start_one(backbone=MODEL, **changes):
        engines.append(settings(server, **changes).start(backbone, max_context_tokens=100))
        return engines[-1]

    yield start_one
    for engine in engines:
        engine.close()


def ask(text="6*7", n=1, seed=3, sampling=SAMPLING, system="Be brief."):
    return SampleRequest(Purpose.CANDIDATE, Prompt(system, text), sampling, n, seed)


def collect(engine, requests):
    for ticket, request in enumerate(requests):
        engine.submit(ticket, request)
    answers = {}
    while len(answers) < len(requests):
        answers |= engine.finished()
    return answers


def wait(engine):
    """The next requests to end; raises what the engine raises."""
    while not (done := engine.finished()):
        pass
    return done


def faulty_once(fault):
    """A plan that meets every prompt with one fault, and lets it pass after that."""
    seen = set()

    def plan(body):
        prompt = body["messages"][-1]["content"]
        return None if prompt in seen else (seen.add(prompt) or fault)

    return plan


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


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("supports_n", [True, False])
def test_every_fault_is_mended_or_counted(server, start, fault, supports_n):
    server.plan = faulty_once(fault)
    engine = start(supports_n=supports_n)
    answers = collect(engine, [ask(f"q{i}", n=3) for i in range(5)])
    assert sorted(answers) == list(range(5))
    for ticket, completions in answers.items():
        assert len(completions) == 3
        if fault == "content filter":
            filtered = [c for c in completions if c.finish_reason is FinishReason.CONTENT_FILTER]
            assert len(filtered) == (3 if supports_n else 1) and all(c.text == "" for c in filtered)
        else:
            assert all(c.text.startswith(f"q{ticket}#") for c in completions)
            assert len({c.text for c in completions}) == 3
    kinds = {
        "reset": "connection lost",
        "slow": "timeout",
        "half json": "broken reply",
        "html": "no JSON",
    }
    kinds |= {"short body": "connection lost", "429 retry-after": "status 429", "empty choices": "no choices"}
    kinds |= {"fewer choices": "fewer choices than asked"} | {
        code: f"status {code}" for code in ("429", "500", "503")
    }
    is_outcome = fault in ("content filter", "more choices") or (fault == "fewer choices" and not supports_n)
    assert dict(engine.faults) == ({} if is_outcome else {kinds[fault]: 5})


def test_a_storm_of_faults_loses_nothing_and_pays_for_nothing_twice(server, start, capsys):
    rng = random.Random(7)
    server.plan = lambda body: rng.choice(FAULTS) if rng.random() < 0.4 else None
    engine = start(max_retries=20, max_concurrency=64)
    num_samples = [1 + i % 4 for i in range(150)]
    answers = collect(engine, [ask(f"q{i}", n=n) for i, n in enumerate(num_samples)])
    assert sorted(answers) == list(range(150)), "a request was lost"
    kept = Counter()
    for ticket, completions in answers.items():
        assert len(completions) == num_samples[ticket]
        kept.update(c.text for c in completions if c.text)
        assert all(c.text.startswith(f"q{ticket}#") for c in completions if c.text)
    assert max(kept.values()) == 1, "a completion was handed out twice"
    assert kept.keys() <= set(server.served)
    assert max(server.good_replies.values()) == 1, "a call was repeated after its good reply"
    injected = {fault: n for fault, n in server.injected.items() if fault}
    assert set(injected) == set(FAULTS)
    with capsys.disabled():
        print(
            f"\nopenai engine: {sum(injected.values())} faults injected into {len(server.requests)} calls, "
            f"{len(answers)} of 150 requests answered, 0 lost, 0 repeated after a good reply; {injected}"
        )


def test_retries_of_a_lost_reply_name_themselves_as_the_same_call(server, start):
    server.plan = faulty_once("half json")
    collect(start(), [ask("a"), ask("b")])
    keys = {}
    for _, headers, body, _ in server.requests:
        keys.setdefault(body["messages"][-1]["content"], []).append(headers["Idempotency-Key"])
    assert {text: (len(k), len(set(k))) for text, k in keys.items()} == {"a": (2, 1), "b": (2, 1)}
    assert keys["a"][0] != keys["b"][0]


def test_retry_after_holds_back_all_calls(server, start):
    server.plan = faulty_once("429 retry-after")
    engine = start(max_concurrency=1)
    collect(engine, [ask("a"), ask("b")])
    times = [at for *_, at in server.requests]
    assert times[1] - times[0] >= 0.95, "the server's wait was not honoured"
    assert times[3] - times[0] < 4


def test_a_server_that_asks_for_too_long_a_wait_ends_the_run(server, start):
    server.plan = lambda body: "429 retry-after"
    engine = start(max_wait_seconds=0.5)
    engine.submit(0, ask())
    with pytest.raises(EngineError, match=r"come back in 1 s, more than engine\.max_wait_seconds=0\.5"):
        wait(engine)


def test_retries_end_and_say_what_failed(server, start):
    server.plan = lambda body: "503"
    engine = start(max_retries=2)
    engine.submit(0, ask())
    with pytest.raises(EngineError, match=r"failed 3 times .* status 503.*engine\.max_retries"):
        wait(engine)
    assert len(server.requests) == 3


def test_a_server_that_is_not_there_is_named():
    with Server() as gone:
        url = gone.base_url
    engine = replace(settings(gone), base_url=url, max_retries=1).start(MODEL, max_context_tokens=100)
    engine.submit(0, ask())
    with pytest.raises(
        EngineError, match=rf"{url} failed 2 times .* no connection.*listen there.*engine\.base_url"
    ):
        wait(engine)
    assert engine.spent.requests == 0, "what never reached a server costs nothing"
    engine.close()


@pytest.mark.parametrize("url", ["127.0.0.1:8999", "localhost:8999/v1", "ftp://one/v1", "http://", ""])
def test_an_address_without_scheme_or_host_is_refused_before_anything_is_sent(server, url):
    with pytest.raises(
        ValueError, match=rf"base_url must begin with http:// .*, got '{url}'\. Write e\.g\. http"
    ):
        settings(server, base_url=url)


def test_weights_of_this_package_are_asked_of_no_server(server, start):
    with pytest.raises(
        EngineError, match=r"backbone=m \(icpo:nano\) .*engine=transformers.*backbone\.model_id=NAME"
    ):
        start(backbone=replace(MODEL, model_id="icpo:nano"))
    assert server.requests == []


@pytest.mark.parametrize(
    ("status", "message", "way_out"),
    [
        (401, "bad key", "api_key_env"),
        (404, "no such model", "backbone.model_id"),
        (429, "insufficient_quota", "limits"),
    ],
)
def test_a_refusal_that_no_retry_mends_stops_at_once_without_the_key(
    server, start, caplog, status, message, way_out
):
    server.plan = lambda body: (status, f"{message}: {KEY} is not good")
    engine = start()
    with caplog.at_level(logging.DEBUG):
        engine.submit(0, ask())
        with pytest.raises(EngineError) as caught:
            wait(engine)
        engine.close()
    assert message in str(caught.value) and way_out in str(caught.value)
    assert (
        KEY not in str(caught.value) + repr(engine) + repr(settings(server)) + engine.identity + caplog.text
    )
    assert len(server.requests) == 1


def test_what_is_in_flight_is_handed_out_before_an_error_is_raised(server, start):
    server.plan = lambda body: {"bad": (401, "no"), "slow": "slow"}.get(body["messages"][-1]["content"])
    engine = start(max_concurrency=2, timeout_seconds=5)
    engine.submit(0, ask("slow"))
    time.sleep(0.3)
    engine.submit(1, ask("bad"))
    [(ticket, _)] = wait(engine)
    assert ticket == 0
    with pytest.raises(EngineError, match="refuses"):
        wait(engine)
    engine.submit(2, ask("later"))
    with pytest.raises(EngineError, match="refuses"):
        wait(engine)
    assert len(server.requests) == 2


def test_calls_in_flight_are_bounded_and_run_beside_one_another(server, start):
    server.plan = lambda body: "slow"
    begun = time.monotonic()
    collect(start(max_concurrency=6, timeout_seconds=9), [ask(f"q{i}") for i in range(12)])
    assert server.max_open == 6
    assert time.monotonic() - begun < 6


def test_a_cancelled_request_is_not_reported(server, start):
    server.plan = lambda body: "slow" if body["messages"][-1]["content"] == "dropped" else None
    engine = start(timeout_seconds=9)
    engine.submit(0, ask("dropped"))
    engine.submit(1, ask("kept"))
    engine.cancel(0)
    assert [ticket for ticket, _ in wait(engine)] == [1]
    assert engine.finished() == []
    engine.submit(0, ask("again"))
    assert wait(engine)[0][1][0].text.startswith("again#")


def test_a_caller_who_waits_may_look_up_while_a_server_thinks(server, start):
    server.plan = lambda body: "slow"
    engine = start(timeout_seconds=9)
    engine.submit(0, ask())
    begun = time.monotonic()
    assert engine.finished() == []
    assert time.monotonic() - begun < 1.4
    assert wait(engine)[0][0] == 0


@pytest.mark.parametrize(
    ("budget", "num_allowed"),
    [
        ({"max_requests": 3}, 3),
        ({"max_tokens": 3 * (PROMPT_TOKENS + COMPLETION_TOKENS) + 100}, 3),
        ({"max_cost": 3e-6 * (11 * 1 + 5 * 2) + 1.2e-4, "prompt_price": 1.0, "completion_price": 2.0}, 3),
    ],
)
def test_a_budget_stops_cleanly_before_it_is_exceeded(server, start, budget, num_allowed):
    engine = start(**budget)
    for ticket in range(10):
        engine.submit(ticket, ask(f"q{ticket}"))
    answers = {}
    with pytest.raises(BudgetError) as caught:
        while True:
            answers |= engine.finished()
    assert next(iter(budget)) in str(caught.value)
    assert len(answers) == len(server.requests) == engine.spent.requests >= num_allowed
    assert engine.spent.requests <= (budget.get("max_requests") or 10)
    assert engine.spent.tokens <= (budget.get("max_tokens") or 1e9)
    assert engine.spent.cost <= (budget.get("max_cost") or 1e9)


def test_lost_replies_may_have_been_charged_and_count_towards_the_budget_alone(server, start):
    server.plan = faulty_once("half json")
    engine = start(max_tokens=1000)
    collect(engine, [ask("a")])
    worst = len("Be brief.\n\na") + 64 + SAMPLING.max_tokens
    assert engine.spent.tokens == PROMPT_TOKENS + COMPLETION_TOKENS
    assert engine.accounting()["unconfirmed_tokens"] == worst
    engine.submit(9, ask("x" * 800))
    with pytest.raises(BudgetError, match=rf"{engine.spent.tokens} tokens .* up to {worst} tokens"):
        wait(engine)


def test_preflight_needs_the_key_and_nothing_of_the_server(server, monkeypatch):
    settings(server).preflight()
    monkeypatch.delenv("ICPO_TEST_KEY")
    with pytest.raises(EngineError, match=r"environment variable ICPO_TEST_KEY.*api_key_env=null"):
        settings(server).preflight()
    settings(server, api_key_env=None).preflight()
    assert server.requests == []


def test_identity_tells_models_and_templates_apart(start):
    changes = [
        {},
        {"model_id": "other"},
        {"revision": "abc"},
        {"template_options": (("a", 1),)},
        {"chat_template": "none"},
    ]
    assert len({start(replace(MODEL, **change)).identity for change in changes}) == len(changes)
    assert start(max_concurrency=2).identity == start().identity


def test_the_same_model_elsewhere_is_the_same_engine_and_addresses_hold_no_credentials(start):
    one, two = start(base_url="https://me:SECRET@ONE/v1/?key=SECRET"), start(base_url="http://two:8000/v1")
    assert one.identity == two.identity
    assert (one.addresses, two.addresses) == (("one/v1",), ("two:8000/v1",))


def test_calls_are_spread_over_servers_by_load_and_go_round_one_that_is_gone(server, start):
    with Server(lambda body: "slow") as other:
        engine = start(base_url=[server.base_url, other.base_url], timeout_seconds=9)
        server.plan = lambda body: "slow"
        collect(engine, [ask(f"q{i}") for i in range(6)])
        assert len(server.requests) == len(other.requests) == 3
    with Server() as gone:
        pass
    server.plan = lambda body: None
    collect(start(base_url=[gone.base_url, server.base_url]), [ask(f"r{i}") for i in range(6)])
    assert len(server.requests) == 9


def test_calls_are_spaced(server, start):
    collect(start(requests_per_minute=600), [ask(f"q{i}") for i in range(5)])
    times = sorted(at for *_, at in server.requests)
    assert times[-1] - times[0] >= 0.35


def test_headers_may_come_from_the_environment_and_are_not_shown(server, start, monkeypatch):
    monkeypatch.setenv("ICPO_TEST_HEADER", "header-secret")
    engine = start(headers={"X-Team": "maths", "api-key": "$ICPO_TEST_HEADER"})
    collect(engine, [ask()])
    headers = server.requests[0][1]
    assert (headers["X-Team"], headers["api-key"]) == ("maths", "header-secret")
    server.plan = lambda body: (401, "header-secret is wrong")
    engine.submit(1, ask("b"))
    with pytest.raises(EngineError) as caught:
        wait(engine)
    assert "header-secret" not in str(caught.value)
    monkeypatch.delenv("ICPO_TEST_HEADER")
    with pytest.raises(EngineError, match="ICPO_TEST_HEADER"):
        start(headers={"api-key": "$ICPO_TEST_HEADER"})


def test_a_socks_proxy_without_its_package_says_what_to_install(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(EngineError, match="pip install"):
        settings(server).preflight()


def test_answers_without_a_text_wait_for_others_that_have_one(server, start):
    server.plan = lambda body: silent if body["messages"][-1]["content"] == "mute" else None

    def silent(handler, body):
        handler.reply(200, handler.completion(body, 1) | {"choices": [SILENT]})

    engine = start()
    assert sorted(collect(engine, [ask("mute"), ask("loud")])) == [0, 1]
    for ticket in range(20):
        engine.submit(ticket, ask("mute"))
    with pytest.raises(EngineError, match="20 requests were answered without any text"):
        wait(engine)


@pytest.mark.parametrize(
    "change",
    [
        {"max_concurrency": 0},
        {"timeout_seconds": 0},
        {"max_retries": -1},
        {"max_cost": 1.0},
        {"max_wait_seconds": -1},
        {"headers": {"x-api-key": "sk-1"}},
        {"base_url": []},
    ],
)
def test_bad_settings_are_refused(server, change):
    with pytest.raises(ValueError, match=next(iter(change))):
        settings(server, **change)
