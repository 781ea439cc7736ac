"""Look an order up, and cancel it in a fork of the world."""

import asyncio

from envace_sdk import Environment, ToolCall


async def main() -> None:
    environment = Environment.load("retail")
    world = environment.world(seed=7)

    found = await environment.call(world, ToolCall("get_order", {"order_id": "TT-26-04124"}))
    print(found.result.value()["status"], found.layer, found.confidence)

    what_if = world.fork("what-if")  # costs nothing, and the original does not notice
    cancel = ToolCall("cancel_order", {"order_id": "TT-26-04124", "reason": "ordered_by_mistake"})
    cancelled = await environment.call(what_if, cancel)
    print(cancelled.result.value()["status"], what_if.state.version, world.state.version)


asyncio.run(main())
