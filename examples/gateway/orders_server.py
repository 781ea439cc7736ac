"""A small MCP server whose tools are real: they read and change a database of orders.

Usage: python orders_server.py orders.db
"""

import asyncio
import json
import sqlite3
import sys
from pathlib import Path

import mcp.types as t
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

DATABASE = Path(sys.argv[1])
ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
REFUND = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "amount": {"type": "number", "exclusiveMinimum": 0}},
    "required": ["order_id", "amount"],
}
TOOLS = [
    t.Tool(
        name="get_order",
        description="Shows an order.",
        input_schema=ORDER,
        annotations=t.ToolAnnotations(read_only_hint=True),
    ),
    t.Tool(
        name="refund_order",
        description="Pays an amount back to the customer.",
        input_schema=REFUND,
        annotations=t.ToolAnnotations(destructive_hint=True),
    ),
]


def call(name: str, arguments: dict[str, object]) -> dict[str, object]:
    """What a tool does: the order as it is then. Raises: ValueError, with what the agent is to read."""
    with sqlite3.connect(DATABASE) as db:
        found = db.execute("SELECT total, refunded FROM orders WHERE id = ?", (arguments["order_id"],)).fetchone()
        if found is None:
            raise ValueError(f"There is no order {arguments['order_id']}")
        total, refunded = found
        if name == "refund_order":
            refunded += float(str(arguments["amount"]))
            if refunded > total:
                raise ValueError("More than can be refunded")
            db.execute("UPDATE orders SET refunded = ? WHERE id = ?", (refunded, arguments["order_id"]))
        return {"order_id": arguments["order_id"], "total": total, "refunded": refunded}


async def on_list(_context: object, _params: object) -> t.ListToolsResult:
    """The catalogue."""
    return t.ListToolsResult(tools=TOOLS)


async def on_call(_context: object, params: t.CallToolRequestParams) -> t.CallToolResult:
    """One call."""
    try:
        order = call(params.name, params.arguments or {})
    except ValueError as error:
        return t.CallToolResult(content=[t.TextContent(type="text", text=str(error))], is_error=True)
    return t.CallToolResult(content=[t.TextContent(type="text", text=json.dumps(order))], structured_content=order)


async def main() -> None:
    """Serve until the input ends."""
    with sqlite3.connect(DATABASE) as db:
        db.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, total REAL, refunded REAL)")
        db.execute("INSERT OR IGNORE INTO orders VALUES ('O-1', 80, 0), ('O-2', 30, 0)")
    server: Server[object] = Server("orders", version="1", on_list_tools=on_list, on_call_tool=on_call)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


asyncio.run(main())
