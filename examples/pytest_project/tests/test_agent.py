import asyncio

import pytest
from agent import exchange_rate, order_status

from envace_sdk.errors import ToolCallError


def any_order(tools):
    return next(iter(tools.state.collection("orders")))


def test_the_status_of_an_order_is_told(envace_tools, envace_client):
    async def scenario():
        async with envace_client() as client:
            return await order_status(client.call_tool, any_order(envace_tools))

    assert "Your order" in asyncio.run(scenario())
    assert [call.call.name for call in envace_tools.calls] == ["get_order"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.envace("retail", seed=3, faults={"faults": [{"kind": "rate_limit", "limit": 2}]})
def test_a_busy_shop_is_asked_again(envace_tools, envace_client, mode):
    async def scenario():
        async with envace_client(mode=mode) as client:
            return await order_status(client.call_tool, any_order(envace_tools))

    assert "Your order" in asyncio.run(scenario())
    assert [call.rehearsal.fault for call in envace_tools.calls] == ["rate_limit", "rate_limit", None]


@pytest.mark.envace(faults="read-only")
def test_tools_are_functions_too(envace_tools):
    customer = next(iter(envace_tools.state.collection("customers")))
    assert envace_tools.sync("get_customer")(customer_id=customer)["customer_id"] == customer
    with pytest.raises(ToolCallError, match="may only read"):
        envace_tools.sync("update_contact")(customer_id=customer, email="new@example.com")


def test_worlds_are_made_by_the_dozen(envace_load):
    worlds = [envace_load("it_operations", seed=seed) for seed in range(3)]
    assert [world.worlds.get().state.seed for world in worlds] == [0, 1, 2]


def test_that_calls_something_real():
    assert exchange_rate("EUR") > 0
