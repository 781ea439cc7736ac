"""Any MCP client: list the tools, look an order up, cancel it, look again.

python client.py URL
"""

import asyncio
import sys

from mcp import Client


async def main() -> None:
    async with Client(sys.argv[1]) as client:
        print(len((await client.list_tools()).tools), "tools")
        order = {"order_id": "TT-26-04124"}
        for tool, arguments in (
            ("get_order", order),
            ("cancel_order", {**order, "reason": "changed_mind"}),
            ("get_order", order),
            ("cancel_order", {**order, "reason": "changed_mind"}),
        ):
            answer = await client.call_tool(tool, arguments)
            said = answer.content[0].text if answer.is_error else answer.structured_content["status"]
            label = answer.meta["dev.envace/evidence"]
            print(f"{tool}: {said} [{label['kind']}, {label['layer']}, {label['confidence']}]")


asyncio.run(main())
