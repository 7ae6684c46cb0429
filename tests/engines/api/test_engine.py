"""The openai engine and a server that misbehaves: each fault is retried or counted, nothing is lost."""

import logging
import random
import time
from collections import Counter

import pytest

pytest.importorskip("openai")

from icpo.errors import EngineError
from icpo.evaluation.engine_pool import spent_between
from tests.engines.api.conftest import ask, collect, faulty_once, settings, wait
from tests.engines.api.playing import KEY
from tests.engines.openai_server import FAULTS

FAULT_NAMES = {
    "status 429",
    "status 500",
    "status 503",
    "connection lost",
    "broken reply",
    "no JSON",
}
FAULT_NAMES |= {"no choices", "fewer choices than asked"}
THINKING = {"finish_reason": "length", "message": {"content": None, "reasoning_content": "so"}}
COUNTED = {"prompt_tokens": 9, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 4}}
SILENT = {"index": 0, "finish_reason": "stop", "message": {"content": ""}}


def test_a_storm_of_faults_loses_nothing_and_pays_for_nothing_twice(server, start, capsys):
    rng = random.Random(7)
    faults = [fault for fault in FAULTS if fault != "slow"]  # a busy machine is slow enough
    server.plan = lambda body: rng.choice(faults) if rng.random() < 0.4 else None
    engine = start(max_retries=20, max_concurrency=64, timeout_seconds=60)
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
    assert set(injected) == set(faults)
    assert set(engine.faults) == FAULT_NAMES
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


def test_a_refusal_that_repeats_the_key_is_shown_without_it(server, start, caplog):
    server.plan = lambda body: (401, f"bad key: {KEY} is not good")
    engine = start()
    with caplog.at_level(logging.DEBUG):
        engine.submit(0, ask())
        with pytest.raises(EngineError, match=r"bad key") as caught:
            wait(engine)
        engine.close()
    seen = str(caught.value) + repr(engine) + repr(settings(server)) + engine.identity + caplog.text
    assert KEY not in seen
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
    assert engine.finished() == []
    assert wait(engine)[0][0] == 0


def test_answers_without_a_text_wait_for_others_that_have_one(server, start):
    server.plan = lambda body: silent if body["messages"][-1]["content"] == "mute" else None

    def silent(handler, body):
        handler.reply(200, handler.completion(body, 1) | {"choices": [SILENT]})

    engine = start()
    assert sorted(collect(engine, [ask("mute"), ask("loud")])) == [0, 1]
    for ticket in range(20):
        engine.submit(ticket, ask("mute"))
    with pytest.raises(EngineError, match=r"2[01] requests"):
        wait(engine)


def test_a_cancelled_answer_without_a_text_is_not_reported_later(server, start):
    silent = lambda handler, body: handler.reply(200, handler.completion(body, 1) | {"choices": [SILENT]})  # noqa: E731
    server.plan = lambda body: {"mute": silent, "slow": "slow"}.get(body["messages"][-1]["content"])
    engine = start(timeout_seconds=9)
    engine.submit(0, ask("slow"))
    engine.submit(1, ask("mute"))
    assert engine.finished() == []  # the silent answer has come and is held
    engine.cancel(1)
    assert [ticket for ticket, _ in wait(engine)] == [0]


@pytest.mark.parametrize(("num_requests", "is_refused"), [(3, False), (16, True)])
def test_answers_that_end_in_their_thoughts_fail_a_cell_only_where_there_are_no_others(
    server, start, num_requests, is_refused
):
    server.plan = lambda body: cut if body["messages"][-1]["content"] == "hard" else None

    def cut(handler, body):
        handler.reply(200, handler.completion(body, 1, reason="length", text=None))

    engine = start()
    if is_refused:
        for ticket in range(num_requests):
            engine.submit(ticket, ask("hard"))
        with pytest.raises(EngineError, match="16 requests"):
            wait(engine)
    else:
        collect(engine, [ask("hard")] * num_requests)
        collect(engine, [ask("easy")])
        assert len(collect(engine, [ask("hard")] * 20)) == 20


def test_every_count_of_the_account_is_a_running_total_so_that_a_cell_gets_its_own_share(server, start):
    replies = {
        "blocked": (400, "content_filter"),
        "lost": faulty_once("half json"),
        "thinks": lambda handler, body: handler.reply(
            200, handler.completion(body, 1) | {"choices": [THINKING], "usage": COUNTED}
        ),
        "uncounted": lambda handler, body: handler.reply(200, handler.completion(body, 1) | {"usage": None}),
    }

    def plan(body):
        reply = replies.get(body["messages"][-1]["content"])
        return reply(body) if reply is replies["lost"] else reply

    server.plan = plan
    engine = start(prompt_price=1.0, completion_price=1.0)
    collect(engine, [ask(text) for text in (*replies, "plain")])
    account = engine.accounting()
    counts = {name for name, value in account.items() if isinstance(value, int | float)}
    assert {"blocked_requests", "unconfirmed_tokens", "reasoning_tokens", "self_counted_requests"} < counts
    assert {spent_between(account, account)[name] for name in counts} == {0}
