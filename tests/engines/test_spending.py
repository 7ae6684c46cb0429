import asyncio

import pytest

from icpo.engines.api.spending import Budget, Spend
from icpo.errors import BudgetError


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

    with pytest.raises(BudgetError, match=rf"engine\.{name}=.*1 replies, 30 tokens and 0\.05 dollars"):
        asyncio.run(run())


def test_a_budget_that_is_met_exactly_is_not_exceeded():
    async def run():
        budget = Budget(1, 30, 0.5)
        async with budget.reserved(Spend(1, 20, 10, 0.5)):
            return True

    assert asyncio.run(run())
