"""What is charged, and budgets that stop before they are exceeded."""

import asyncio

import pytest

pytest.importorskip("openai")

from icpo.engines.api.spending import Budget, Spend
from icpo.errors import BudgetError, EngineError
from tests.engines.api.conftest import SAMPLING, ask, collect, faulty_once, wait
from tests.engines.openai_server import COMPLETION_TOKENS, PROMPT_TOKENS


def test_spends_add_up_by_part():
    assert Spend(1, 10, 4, 0.5) + Spend(2, 5, 6, 0.25) == Spend(3, 15, 10, 0.75)


def test_a_request_waits_for_room_and_starts_when_others_cost_less_than_feared():
    async def run():
        budget = Budget(None, 100, None)
        order = []

        async def one(name, actual):
            async with budget.reserved(Spend(1, 60)):
                order.append(f"{name} starts")
                await asyncio.sleep(0.01)
                order.append(f"{name} ends")
                budget.book(Spend(1, actual))

        await asyncio.gather(one("a", 10), one("b", 10))
        return order, budget.spent

    order, spent = asyncio.run(run())
    assert order == ["a starts", "a ends", "b starts", "b ends"]
    assert spent == Spend(2, 20)


@pytest.mark.parametrize(
    ("limits", "name"),
    [((1, None, None), "max_requests"), ((None, 50, None), "max_tokens"), ((None, None, 0.1), "max_cost")],
)
def test_what_can_never_fit_names_its_budget_and_what_was_spent(limits, name):
    async def run():
        budget = Budget(*limits)
        budget.book(Spend(1, 20, 10, 0.05))
        async with budget.reserved(Spend(1, 20, 10, 0.06)):
            raise AssertionError("must not start")

    with pytest.raises(BudgetError, match=rf"engine\.{name}=.*30 tokens.*0\.05"):
        asyncio.run(run())


def test_a_budget_that_is_met_exactly_is_not_exceeded():
    async def run():
        budget = Budget(1, 30, 0.5)
        async with budget.reserved(Spend(1, 20, 10, 0.5)):
            return True

    assert asyncio.run(run())


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
    with pytest.raises(BudgetError, match=rf"{engine.spent.tokens} .*{worst}"):
        wait(engine)


def test_a_reply_that_is_of_no_use_is_charged_all_the_same(server, start):
    unfinished = {"index": 0, "finish_reason": "error", "message": {"content": ""}}
    server.plan = faulty_once(
        lambda handler, body: handler.reply(200, handler.completion(body, 1) | {"choices": [unfinished]})
    )
    engine = start()
    collect(engine, [ask("a")])
    assert (engine.spent.requests, engine.spent.prompt_tokens) == (2, 2 * PROMPT_TOKENS)


def test_after_an_error_requests_that_wait_for_the_budget_are_not_sent(server, start):
    server.plan = lambda body: (401, "no")
    engine = start(max_requests=1)
    for ticket in range(3):
        engine.submit(ticket, ask())
    with pytest.raises(EngineError, match="refuses"):
        while True:
            engine.finished()
    assert len(server.requests) == 1
