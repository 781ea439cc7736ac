"""Rehearse two calls in a world of one's own."""

import asyncio

from envace_sdk import Environment, ToolCall


async def main() -> None:
    environment = Environment.load("retail")
    world = environment.world(seed=7)

    found = await environment.call(world, ToolCall("list_orders", {"status": "dispatched", "limit": 1}))
    print(found.result.value())
    print(found.layer, found.confidence)

    what_if = world.fork("what-if")  # costs nothing; the original does not notice
    print(what_if.state.version, world.state.version)


asyncio.run(main())
