"""Runs under an `mcp` 1.x: goes through a short story with the server named on the command line, prints what it saw."""

import asyncio
import contextlib
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def main(target):
    async with contextlib.AsyncExitStack() as opened:
        if target[0].startswith("http"):
            streams = await opened.enter_async_context(streamablehttp_client(target[0]))
        else:
            parameters = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
            streams = await opened.enter_async_context(stdio_client(parameters))
        session = await opened.enter_async_context(ClientSession(streams[0], streams[1]))
        greeting = await session.initialize()
        tools = (await session.list_tools()).tools
        made = await session.call_tool("add_item", {"title": "Milk"})
        again = await session.call_tool("get_item", {"item_id": made.structuredContent["item_id"]})
        missing = await session.call_tool("get_item", {"item_id": "I-99"})
        titles = await session.call_tool("item_titles", {})
        seen = {
            "protocol": greeting.protocolVersion,
            "tools": [tool.name for tool in tools],
            "made": made.structuredContent,
            "again": again.structuredContent,
            "missing": missing.isError,
            "titles": json.loads(titles.content[0].text),
            "layer": made.meta["dev.envace/evidence"]["layer"],
        }
        print(json.dumps(seen))  # noqa: T201


asyncio.run(main(sys.argv[1:]))
