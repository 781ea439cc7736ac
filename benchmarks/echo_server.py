"""A bare low-level `mcp` server: answers each tool with a payload from a file. What rehearsing is compared with."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mcp.types as t
from mcp.server.lowlevel import Server


def build(tools_file: Path, payloads_file: Path) -> Server[Any]:
    """The server of these tools, with the wire result of each by name."""
    tools = [t.Tool.model_validate(tool, by_name=False) for tool in json.loads(tools_file.read_text())["tools"]]
    payloads = json.loads(payloads_file.read_text())
    schemas = {tool.name: tool.input_schema for tool in tools}

    async def list_tools(context: Any, params: Any) -> t.ListToolsResult:  # noqa: ARG001
        return t.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: t.CallToolRequestParams) -> t.CallToolResult:  # noqa: ARG001
        payload = payloads[params.name]
        return t.CallToolResult(
            content=[t.TextContent(type="text", text=json.dumps(payload["structuredContent"], ensure_ascii=False))],
            structured_content=payload["structuredContent"],
            _meta=payload["_meta"],
        )

    return Server("echo", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=schemas.get)


async def stdio(server: Server[Any]) -> None:
    """Serve on standard input and output, as the SDK does."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main() -> None:
    """`echo_server.py TOOLS PAYLOADS [PORT]`"""
    server = build(Path(sys.argv[1]), Path(sys.argv[2]))
    if len(sys.argv) > 3:
        import uvicorn

        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[3]), log_level="error")
    else:
        import anyio

        anyio.run(stdio, server)


if __name__ == "__main__":
    main()
